import { ownId } from '../src/cli/account.ts'
import { type CommandContext, defineCommand } from '../src/cli/command.ts'
import { Duration } from '../src/cli/duration.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import { findListing } from '../src/cli/nouns/services/services.ts'
import * as z from '../src/cli/params.ts'
import type { Session } from '../src/cli/session.ts'
import { splitWords } from '../src/cli/split-words.ts'
import { openLine } from '../src/provider/follow.ts'
import { ordersOf } from '../src/provider/orders.ts'
import { createQueue, type Queue } from '../src/provider/queue.ts'
import { deliverForms } from '../src/provider/run-job.ts'
import { doJob, type Trade, type WorkerNotice } from '../src/provider/worker.ts'
import { bold, byteSize, dim, green, red, span, yellow } from '../src/text/text.ts'

const MAX_CONCURRENCY = 64
const MAX_RETRIES = 20
const RETRY_DELAY_MS = 5_000

const options = z.object({
  exec: z
    .string()
    .meta({ description: 'command that does a job: input on stdin, deliverable on stdout', value: 'command' }),
  shell: z.boolean().default(false).meta({ description: 'let a shell read the command' }),
  concurrency: z.int().min(1).max(MAX_CONCURRENCY).default(1).meta({ description: 'jobs at once' }),
  timeout: Duration.optional().meta({ description: 'longest that a job may take', value: 'duration' }),
  retries: z.int().min(0).max(MAX_RETRIES).default(3).meta({ description: 'further tries where the command exits 75' }),
  retryDelay: Duration.default(RETRY_DELAY_MS).meta({
    description: 'wait before the first of them',
    value: 'duration',
  }),
  deliver: z.enum(deliverForms).default('stdout-json').meta({ description: 'what the printed text is' }),
  cwd: z.string().optional().meta({ description: 'folder that the command runs in', value: 'dir' }),
  env: z.array(z.string()).default([]).meta({ description: 'set for the command', value: 'name=value' }),
  once: z.boolean().default(false).meta({ description: 'do what waits, then end' }),
})
type Host = CommandContext<{ services: string[] }, z.output<typeof options>>

type Providing = {
  readonly event: 'providing'
  readonly at: string
  readonly services: readonly { readonly service_id: string; readonly name: string }[]
  readonly participant_id: string
  readonly workers: number
}
type Item = Providing | WorkerNotice

export const command = defineCommand({
  name: 'provide',
  heading: 'Market',
  summary: 'be the provider: each job runs a command',
  description: [
    'The command gets the input as JSON on stdin and in the file $SOUK_JOB_FILE, with SOUK_JOB_ID, SOUK_SERVICE_ID,',
    'SOUK_BUYER, SOUK_DEADLINE and SOUK_WORKDIR. What it prints is delivered when it exits 0; 75 asks for another try',
    'later; any other code fails the job with the last line of its stderr as the reason, and the buyer gets the money',
    'back. A line "progress: 40 text" on stderr is told to the buyer. It is ended at the deadline. No public address is',
    'needed. A command that was cut short by a crash is run again: it should be safe to repeat.',
  ].join('\n'),
  args: z.object({ services: z.array(z.string()).min(1).meta({ description: 'ids or names of your own listings' }) }),
  options,
  examples: [
    'souk provide svc_0123456789abcdef --exec cat --once',
    "souk provide svc_0123456789abcdef --exec 'node work.js' --concurrency 2 --timeout 5m --once --ndjson",
  ],
  endsItself: true,
  run: (context) => provide(context),
  view(item, io) {
    const time = dim(item.at.slice(11, 19))
    if (item.event === 'providing') {
      const names = item.services.map(({ name }) => bold(name)).join(', ')
      io.line(`${green('●')} providing ${names} as ${item.participant_id}   ${item.workers} at once   waiting`)
      return
    }
    io.line(`${time} ${item.job_id}  ${sentence(item)}`)
  },
})

function sentence(said: WorkerNotice): string {
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
      return dim(`nothing to do: it is ${said.status}`)
  }
}

async function* provide(context: Host): AsyncGenerator<Item> {
  const { io, options: wanted, signal } = context
  if (!wanted.shell) splitWords(wanted.exec) // refused now and not with the first job
  const session = await context.session()
  const participant_id = await ownId(session)
  const services = await ownListings(session, { names: context.args.services, owner: participant_id })
  yield { event: 'providing', at: stamp(io.now()), services, participant_id, workers: wanted.concurrency }
  const said = createQueue<WorkerNotice>()
  const ids = new Set(services.map(({ service_id }) => service_id))
  void work(context, ids, said).then(() => said.end(), said.end)
  let failed = false
  for await (const item of said) {
    failed ||= item.event === 'failed'
    yield item
  }
  if (wanted.once && failed && !signal.aborted) context.exit('failure')
}

function stamp(ms: number): string {
  return new Date(ms).toISOString()
}

type Naming = { readonly names: readonly string[]; readonly owner: string }

async function ownListings(session: Session, { names, owner }: Naming) {
  const listings = await Promise.all(names.map((name) => findListing(session, name)))
  for (const { id, name, provider_id } of listings) {
    if (provider_id !== owner) {
      throw new CliError('auth', `${name} (${id}) is not a listing of yours.`, { next: ['souk account show'] })
    }
  }
  return listings.map(({ id, name }) => ({ service_id: id, name }))
}

/** Takes jobs while there is a hand free. After ctrl-c nothing new begins, and what runs is finished. */
async function work(context: Host, services: ReadonlySet<string>, said: Queue<WorkerNotice>): Promise<void> {
  const { options: wanted, signal, io } = context
  const trade = await tradeOf(context, said)
  const asking = await openLine(context, {
    signal,
    onOutage: ({ state, attempt }) => tellOutage(context, state, attempt),
  })
  const busy = new Set<Promise<void>>()
  const faults: unknown[] = []
  try {
    for await (const id of ordersOf({ line: asking, services, signal, once: wanted.once })) {
      const done: Promise<void> = doJob(trade, id)
        .catch((error: unknown) => void faults.push(error))
        .finally(() => busy.delete(done))
      busy.add(done)
      if (busy.size >= wanted.concurrency) await Promise.race(busy)
      if (faults.length > 0 || signal.aborted) break
    }
  } catch (error) {
    if (!signal.aborted) faults.push(error)
  }
  if (signal.aborted && busy.size > 0) io.say(`finishing ${busy.size} (ctrl-c again to stop now)`)
  await Promise.all(busy)
  if (faults.length > 0) throw faults[0]
}

function tellOutage({ io }: Host, state: 'lost' | 'back', attempt: number): void {
  if (state === 'back') io.say(`${green('●')} connected again`)
  else if (attempt === 1) io.say(`${yellow('!')} the instance is away, retrying …`)
}

async function tradeOf(context: Host, said: Queue<WorkerNotice>): Promise<Trade> {
  const { options: wanted, io, system, signal } = context
  const env = Object.fromEntries(wanted.env.map(variableOf))
  return {
    // What was begun is finished after ctrl-c too; a second one ends this process.
    line: await openLine(context, { signal: new AbortController().signal }),
    work: {
      line: wanted.exec,
      shell: wanted.shell,
      cwd: wanted.cwd,
      env: { ...system.env, ...env },
      deliver: wanted.deliver,
      timeoutMs: wanted.timeout,
      tmpDir: system.tmpDir,
      now: io.now,
    },
    retries: wanted.retries,
    retryMs: wanted.retryDelay,
    sleep: system.sleep,
    stop: signal,
    say: said.push,
    log: (line) => io.debug(line, 'verbose'),
  }
}

function variableOf(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw usage(`--env must be name=value; you gave "${text}".`)
  return [text.slice(0, at), text.slice(at + 1)]
}
