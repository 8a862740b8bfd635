import { defineCommand } from '../../src/cli/command.ts'
import { explain } from '../../src/cli/failure.ts'
import * as z from '../../src/cli/params.ts'
import { type ChildWord, systemCode } from '../../src/lifecycle/child-word.ts'
import { launchOptions } from '../../src/lifecycle/launch.ts'
import { runDaemon } from '../../src/lifecycle/run.ts'

export const command = defineCommand({
  name: 'daemon serve',
  summary: 'run the daemon in this process (what up starts)',
  hidden: true,
  args: z.object({}),
  options: z.object(launchOptions),
  examples: ['souk daemon serve --help', 'souk help daemon serve'],
  async run(context) {
    const tell = async (word: ChildWord) => context.system.parent?.tell(word)
    try {
      return await runDaemon(context, {
        onReady: ({ url }, notes) => tell({ kind: 'ready', url, notes: [...notes] }),
      })
    } catch (error) {
      const { sentence, facts, next } = explain(error)
      await tell({ kind: 'failed', cause: systemCode(error), sentence, facts: [...facts], next: [...next] })
      throw error
    }
  },
  view: ({ url }, io) => io.say(`stopped ${url}`),
})
