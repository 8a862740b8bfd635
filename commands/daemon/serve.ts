import { defineCommand } from '../../src/cli/command.ts'
import { exitNamed } from '../../src/cli/exit.ts'
import { explain } from '../../src/cli/failure.ts'
import * as z from '../../src/cli/params.ts'
import { type ChildWord, systemCode } from '../../src/lifecycle/begin.ts'
import { launchOptions } from '../../src/lifecycle/launch.ts'
import { runDaemon } from '../../src/lifecycle/run.ts'

export const command = defineCommand({
  name: 'daemon serve',
  summary: 'run the daemon in the foreground (used by `souk up`)',
  hidden: true,
  options: z.object(launchOptions),
  examples: ['souk daemon serve --help', 'souk help daemon serve'],
  async run(context) {
    const { parent } = context.system
    const tell = async (word: ChildWord) => {
      await parent?.tell(word)
      parent?.leave()
    }
    try {
      return await runDaemon(context, { onReady: (_, notes) => tell({ kind: 'ready', notes: [...notes] }) })
    } catch (error) {
      const { exit, sentence, facts, next } = explain(error)
      const cause = systemCode(error)
      await tell({ kind: 'failed', cause, exit: exitNamed(exit), sentence, facts: [...facts], next: [...next] })
      throw error
    }
  },
  view: ({ url }, io) => io.say(`stopped ${url}`),
})
