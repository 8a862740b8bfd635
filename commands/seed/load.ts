import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import { CliError, usage } from '../../src/cli/exit.ts'
import { parseDocument, textOf } from '../../src/cli/files/document.ts'
import * as z from '../../src/cli/params.ts'
import type { SeedFile } from '../../src/market/file/shape.ts'
import { cyan, dim, green } from '../../src/text/text.ts'

const options = z.object({
  file: z.string().optional().meta({ description: 'people, services and acts as YAML', value: 'file' }),
})
type Wanted = CommandContext<unknown, z.output<typeof options>>
const MAX_SHOWN = 10

export const command = defineCommand({
  name: 'seed load',
  isDefault: true,
  summary: 'play a file of people, services and acts at a sandbox instance',
  description:
    'The file is checked whole before anything happens; --dry-run stops there. People are {name, title, type, funds, deposit}, services {by, name, …} with the fields of a listing, acts one of buy {who, service, input, from, as}, message {who, job, text}, start, deliver {job, deliverables, notes}, fail, verify {job, rating, comment}, dispute {job, reason}, in their order. People and listings that are there already are used; acts happen each time.',
  args: z.object({}),
  options,
  examples: ['souk seed --file market.yaml', 'souk seed --file market.yaml --dry-run --json'],
  async *run(context) {
    const { file } = context.options
    if (file === undefined)
      throw usage('A seed is demo, traffic, or a file.', {
        next: ['souk seed demo', 'souk seed traffic', 'souk help seed load'],
      })
    const seed = await checked(context, file)
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

/** @throws CliError usage that names every field that is wrong. */
async function checked({ io }: Wanted, file: string): Promise<SeedFile> {
  const { faultsOf, MAX_SEED_BYTES, SeedFile } = await import('../../src/market/file/shape.ts')
  const text = file === '-' ? await io.stdin() : textOf(file)
  if (Buffer.byteLength(text) > MAX_SEED_BYTES) throw usage(`${file} is longer than ${MAX_SEED_BYTES / 1024} KiB.`)
  const document = await parseDocument(text, file)
  const faults = faultsOf(document)
  if (faults.length === 0) return SeedFile.parse(document)
  const facts = faults.slice(0, MAX_SHOWN).map(({ path, message }) => `${path}: ${message}`)
  throw new CliError('usage', `${file} is no seed; nothing was done.`, { facts, next: ['souk help seed load'] })
}
