import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import type { Io } from '../src/cli/io.ts'
import * as z from '../src/cli/params.ts'
import { Duration } from '../src/cli/params.ts'
import type { ProviderNotice, ShopNotice } from '../src/provider/notices.ts'
import { deliverForms, type WorkerNotice } from '../src/provider/worker.ts'
import { bold, byteSize, cyan, dim, green, red, span, yellow } from '../src/text/text.ts'

const MAX_CONCURRENCY = 64
const MAX_RETRIES = 20
const RETRY_DELAY_MS = 5_000

const options = z.object({
  exec: z
    .string()
    .meta({ description: 'command that does a job: input on stdin, deliverable on stdout', value: 'command' }),
  listing: z.text({ description: 'YAML or JSON file of a listing; creates or updates the listing', value: 'file' }),
  watch: z.flag({ description: 'reload when the listing file or the program changes' }),
  name: z.text({
    description: 'your public name, if you are not registered yet (default: wallet name)',
    value: 'name',
  }),
  practice: z
    .enum(['changed', 'always', 'never'])
    .default('changed')
    .meta({ description: 'when to make a practice run: buy the listing once with test money' }),
  practiceInput: z.text({
    description: 'input of the practice run, as YAML or JSON (default: generated from the schema)',
    value: 'file',
  }),
  shell: z.flag({ description: 'run the command in a shell' }),
  concurrency: z.between(1, MAX_CONCURRENCY).default(1).meta({ description: 'parallel jobs' }),
  timeout: Duration.optional().meta({ description: 'time limit per job', value: 'duration' }),
  retries: z.between(0, MAX_RETRIES).default(3).meta({ description: 'retries after exit code 75' }),
  retryDelay: Duration.default(RETRY_DELAY_MS).meta({
    description: 'wait before the first retry; doubles each time',
    value: 'duration',
  }),
  deliver: z
    .string()
    .default(deliverForms[0])
    .meta({ description: `deliverable: ${deliverForms.join(', ')}, or a folder for files`, value: 'how' }),
  cwd: z.text({ description: 'working directory of the command', value: 'dir' }),
  env: z.list({ description: 'environment variable for the command', value: 'name=value' }),
  once: z.flag({ description: 'process waiting jobs, then exit' }),
})
export type ProvideOptions = z.output<typeof options>
export type ProvideHost = CommandContext<{ services: string[] }, ProvideOptions>

export const command = defineCommand({
  name: 'provide',
  heading: 'Market',
  summary: 'sell services: run a command for each job',
  description: [
    '--listing creates or updates the listing and buys it once with test money, as a practice run. With real money there is no practice run. --dry-run shows the plan and does nothing.',
    'The command gets the input as JSON on stdin and in the file $SOUK_JOB_FILE, with SOUK_JOB_ID, SOUK_SERVICE_ID, SOUK_BUYER, SOUK_DEADLINE and SOUK_WORKDIR. Its output is delivered if it exits 0. Exit code 75 means try again later. Any other code fails the job and refunds the buyer; the last line of stderr is the reason.',
    'A line "progress: 40 text" on stderr is shown to the buyer. The command is stopped at the deadline. With --deliver DIR, the files in $SOUK_DELIVER_DIR (a folder for each job within DIR) are delivered.',
    'After a crash the command can run again for the same job: make it safe to repeat. A job keeps the price and terms of its purchase. No public address is needed.',
  ].join('\n\n'),
  args: z.object({ services: z.list({ description: 'ids or names of your listings' }) }),
  options,
  examples: [
    'souk provide svc_0123456789abcdef --exec cat --once',
    "souk provide svc_0123456789abcdef --exec 'node work.js' --concurrency 2 --timeout 5m --once --ndjson",
    'souk provide --listing listing.yaml --exec cat --once',
  ],
  endsItself: true,
  async *run(context): AsyncGenerator<ProviderNotice> {
    if (context.args.services.length === 0 && context.options.listing === undefined) {
      throw usage('Give one of your listings, or a listing file with --listing.', {
        next: ['souk services list --mine', 'souk provide --listing listing.yaml --exec COMMAND'],
      })
    }
    const { runShop } = await import('../src/provider/provide-loop.ts')
    yield* runShop(context)
  },
  view(item, io) {
    const time = dim(item.at.slice(11, 19))
    switch (item.event) {
      case 'providing':
      case 'listed':
      case 'practice':
      case 'withheld':
      case 'reloaded':
      case 'would':
        return io.line(shopLine(item, io))
      default:
        io.line(`${time} ${item.job_id}  ${jobLine(item)}`)
    }
  },
})

function jobLine(said: WorkerNotice): string {
  switch (said.event) {
    case 'started':
      return `started${said.attempt > 1 ? ` again (${said.attempt})` : ''}`
    case 'delivered':
      return `${green('✓')} delivered  ${span(said.ms)}   ${byteSize(said.bytes)}   earns $${said.net}`
    case 'failed':
      return `${red('✗')} failed   ${said.reason}`
    case 'retry':
      return `${yellow('!')} again in ${span(said.wait_ms)}   ${said.reason}`
    case 'over':
      return dim(`nothing to do: the job is ${said.status}`)
  }
}

function shopLine(said: ShopNotice, io: Io): string {
  switch (said.event) {
    case 'providing': {
      const names = said.services.map(({ name }) => bold(name)).join(', ')
      return `${green('●')} providing ${names} as ${said.participant_id}   ${said.workers} at once   waiting`
    }
    case 'listed': {
      const what = said.changed.length === 0 || said.change === 'created' ? '' : ` (${said.changed.join(', ')})`
      const price = said.price === null ? 'price on request' : `buyers pay $${said.price}`
      const off = said.status === 'active' ? '' : `   ${yellow(said.status)}`
      return `${green('✓')} ${bold(said.name)} ${said.change}${what}   ${said.service_id}   ${price}${off}`
    }
    case 'practice':
      return practiceLine(said, io)
    case 'withheld':
      return `${yellow('!')} ${said.what}: ${said.reason}   ${
        said.again_ms === null ? 'the previous listing stays in use' : `next try in ${span(said.again_ms)}`
      }`
    case 'reloaded':
      return `${green('✓')} ${io.path(said.path)} was edited: the next job runs it`
    case 'would':
      return `${dim(said.step.padEnd(9))} ${said.does}`
  }
}

function practiceLine(said: Extract<ShopNotice, { event: 'practice' }>, io: Io): string {
  switch (said.state) {
    case 'bought':
      return `${dim('○')} practice run: bought for $${said.price} of test money   ${said.job_id}`
    case 'passed':
      return `${green('✓')} practice run: the command delivered, and the delivery passed the buyer checks`
    case 'none':
      return `${yellow('!')} no practice run: ${said.reason}`
    case 'failed':
      return `${red('✗')} practice run failed: ${said.reason}   the listing is off until one passes: ${cyan(
        io.hint(`souk services view ${said.service_id}`),
      )}`
  }
}
