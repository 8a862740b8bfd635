import { defineCommand } from '../../src/cli/command.ts'
import { usage } from '../../src/cli/exit.ts'
import * as z from '../../src/cli/params.ts'
import { cyan, dim, green } from '../../src/text/text.ts'

const options = z.object({
  file: z.string().optional().meta({ description: 'YAML file with users, services and actions', value: 'file' }),
})

export const command = defineCommand({
  name: 'seed load',
  isDefault: true,
  summary: 'load users, services and actions from a file into a sandbox instance',
  description:
    'The file is checked first; --dry-run stops there. Users are {name, title, type, funds, deposit}, services {by, name, …} with the fields of a listing, actions are buy {who, service, input, from, as}, message {who, job, text}, start, deliver {job, deliverables, notes}, fail, verify {job, rating, comment}, dispute {job, reason}. Actions run in order. Existing users and listings are reused; actions run each time.',
  options,
  examples: ['souk seed --file market.yaml', 'souk seed --file market.yaml --dry-run --json'],
  async *run(context) {
    const { file } = context.options
    if (file === undefined)
      throw usage('A seed is demo, traffic, or a file.', {
        next: ['souk seed demo', 'souk seed traffic', 'souk help seed load'],
      })
    const { checkedSeed } = await import('../../src/market/file/shape.ts')
    const seed = await checkedSeed(context.io, file)
    if (context.globals.dryRun) {
      const counts = `${seed.people.length} people, ${seed.services.length} services, ${seed.acts.length} acts`
      yield { step: 'file', did: `holds ${counts}; nothing was done`, id: null }
      return
    }
    const { play } = await import('../../src/market/file/play.ts')
    yield* play(context, await context.session(), seed)
  },
  view({ step, did, id }, io) {
    io.line(`${green('✓')} ${dim(step.padEnd(12))} ${did}${id === null ? '' : `   ${cyan(id)}`}`)
  },
})
