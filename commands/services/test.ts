import type { WireAnswer } from '../../src/api/index.ts'
import { type CommandContext, defineCommand } from '../../src/cli/command.ts'
import type { Io } from '../../src/cli/io.ts'
import { findListing } from '../../src/cli/nouns/services/services.ts'
import type { Column } from '../../src/cli/output.ts'
import * as z from '../../src/cli/params.ts'
import { cyan, dim, green, red } from '../../src/text/text.ts'

const REPEAT_MAX = 100

type Diagnosis = WireAnswer<'testService'>
type Try = Diagnosis & { readonly number: number }

const columns: readonly Column<Try>[] = [
  { title: 'TRY', value: ({ number }) => number },
  { title: 'DELIVERED', value: ({ delivered }) => String(delivered) },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'MS', value: ({ latency_ms: ms }) => ms },
  { title: 'ERROR', value: ({ error }) => error, flexible: true },
]

const options = z.object({
  repeat: z.between(1, REPEAT_MAX).default(1).meta({ description: 'number of times, one after another' }),
  exitStatus: z.flag({ description: 'exit with code 11 if a message was not accepted' }),
})
type Context = CommandContext<{ service: string }, z.output<typeof options>>

export const command = defineCommand({
  name: 'services test',
  summary: 'send a test message to the endpoint of your listing and show what came back',
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  options,
  examples: [
    'souk services test svc_0123456789abcdef',
    'souk services test svc_0123456789abcdef --repeat 3 --json --fields number,delivered,latency_ms',
  ],
  async run(context) {
    const session = await context.session()
    const { id } = await findListing(session, context.args.service)
    const ask = () => session.call('testService', { params: { id } })
    const tests = await repeated(context, ask)
    const delivered = tests.filter((one) => one.delivered).length
    if (context.options.exitStatus && delivered < tests.length) context.exit('check_failed')
    return { service_id: id, delivered, total: tests.length, tests }
  },
  rows: ({ tests }) => tests,
  columns,
  view({ service_id, delivered, total, tests }, io) {
    for (const one of tests) showTry(one, io)
    if (total > 1) io.line(`${delivered} of ${total} were accepted`)
    if (delivered < total) io.note(`  next: ${cyan(io.hint(`souk services edit ${service_id} --set webhook_url=URL`))}`)
  },
})

async function repeated({ io, options: { repeat }, signal }: Context, ask: () => Promise<Diagnosis>): Promise<Try[]> {
  const progress = io.progress('sending a test message')
  const tests: Try[] = []
  try {
    for (let number = 1; number <= repeat && !signal.aborted; number += 1) {
      progress.update(`sending test message ${number} of ${repeat}`)
      tests.push({ number, ...(await ask()) })
    }
  } finally {
    progress.stop()
  }
  return tests
}

function showTry({ delivered, status, latency_ms, error, response_excerpt, signature_headers }: Try, io: Io): void {
  const answer = status === null ? 'no answer' : String(status)
  io.line(
    `${delivered ? green('✓') : red('✗')} ${answer}   ${latency_ms} ms${error === undefined ? '' : `   ${error}`}`,
  )
  for (const [name, value] of Object.entries(signature_headers)) io.line(dim(`  ${name}: ${value}`))
  if (response_excerpt !== '') io.line(`  answer  ${response_excerpt}`)
}
