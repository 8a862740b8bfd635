import { ownId } from '../src/cli/account.ts'
import { andJson, defineCall, defineCommand } from '../src/cli/command.ts'
import { usage } from '../src/cli/exit.ts'
import { DOCUMENT, readObjectFile, unjudged } from '../src/cli/files/document.ts'
import { inEditor } from '../src/cli/files/editor.ts'
import { exampleOf, exampleOption } from '../src/cli/files/examples.ts'
import { columnsOf } from '../src/cli/nouns/lists.ts'
import { diagnose, type ListingFinding } from '../src/cli/nouns/services/diagnosis.ts'
import { inputFrom } from '../src/cli/nouns/services/input.ts'
import { checkNames } from '../src/cli/nouns/services/input-check.ts'
import { askedInput } from '../src/cli/nouns/services/input-form.ts'
import { findListing } from '../src/cli/nouns/services/services.ts'
import { changesIn, listingDraft, newListing, ownListing, readSettings } from '../src/cli/nouns/services/write.ts'
import { type Column, printRows } from '../src/cli/output.ts'
import * as z from '../src/cli/params.ts'
import { pay } from '../src/cli/wallet/paying.ts'
import { agreedTo } from '../src/cli/wallet/signing-in.ts'
import type { SentBody } from '../src/client/asked.ts'
import { wordsOf } from '../src/client/call.ts'
import { AppError } from '../src/core/error.ts'
import { service } from '../src/nouns/services.ts'
import { bold, cyan, dim, green, linesOf, red, yellow } from '../src/text/text.ts'

export const servicesCreate = defineCommand({
  name: 'services create',
  summary: 'create a listing',
  options: z.object({
    file: z.text({ short: 'f', description: `${DOCUMENT} of the listing, - for stdin`, value: 'file' }),
    set: z.list({ description: 'a field of the listing', value: 'field=value' }),
    example: exampleOption,
    editor: z.flag({ description: 'write the listing in $VISUAL or $EDITOR' }),
  }),
  examples: [
    'souk services create --example',
    'souk services create --set name=Echo --set description=Echoes --set price=0.50 --set fulfillment_type=automated',
    'souk services create --set name=Talk --set description=Advice --set pricing_model=quote_required --set fulfillment_type=human --json',
  ],
  async run(context) {
    const { file, set, editor, example } = context.options
    if (example) return { example: exampleOf('listing').trimEnd().split('\n') }
    if (file === undefined && set.length === 0 && !editor)
      throw usage('Give the listing by --file listing.json, --set field=value, or --editor.')
    const fields = {
      ...(file === undefined ? {} : await readObjectFile(context.io, file, 'the listing')),
      ...readSettings(set),
    }
    const session = await context.session()
    const create = (body: Readonly<Record<string, unknown>>) =>
      session.call('createService', { body: unjudged<SentBody<'createService'>>(body) })
    return editor
      ? inEditor(context, { name: 'listing', text: await newListing(fields), take: create })
      : create(fields)
  },
  view(listing, io) {
    if ('example' in listing) {
      for (const line of listing.example) io.line(line)
      return
    }
    const { id, name, provider_net_price: net } = listing
    const isDead = listing.fulfillment_type === 'instant' && listing.webhook_url === null
    const sign = isDead ? yellow('!') : green('✓')
    io.line(`${sign} ${bold(id)} listed   ${name}   you get ${net.fixed ?? 'what you quote'}`)
    if (isDead) io.line('  not for sale yet: an instant listing needs a working endpoint')
    if (listing.break_even !== undefined)
      io.line(`  below ${listing.break_even}, the gas of a sale costs the marketplace more than its fee`)
    const next = [isDead ? `souk services edit ${id} --set webhook_url=URL` : `souk services view ${id}`]
    if (listing.fulfillment_type === 'automated') next.push(`souk provide ${id} --exec COMMAND`)
    // Printed on stderr even in a pipe, so that script authors see the next step.
    io.say(`  next      ${next.map((line) => cyan(io.hint(line))).join('    ')}`)
  },
})

export const servicesDelete = defineCall({
  name: 'services delete',
  summary: 'remove one of your listings',
  args: z.object({ service: z.string().meta({ description: 'id of the listing' }) }),
  examples: andJson('souk services delete svc_0123456789abcdef --yes'),
  asks: 'deleteService',
  confirms: ({ args }) => `Remove ${args.service}? Open jobs continue.`,
  view: ({ service_id: id }, io) => io.line(`${green('✓')} ${id} removed`),
})

export const servicesDiscover = defineCommand({
  name: 'services discover',
  summary: 'get the complete catalog with runnable example requests',
  pays: 'discover',
  description: 'Made for agents. The catalog alone is free: `souk services list`.',
  options: z.object({ guide: z.flag({ description: 'print only the guide, as Markdown' }) }),
  examples: [
    'souk services discover',
    'souk services discover --guide',
    'souk services discover --json --fields id,agent_price',
  ],
  async run(context) {
    const session = await context.session()
    const { answer: found, payment } = await pay(context, session, { endpoint: 'discover', asked: {} })
    context.io.debug(`paid by ${payment.method}`, 'verbose')
    return context.options.guide ? { guide: found.guide, guide_markdown: found.guide_markdown } : found
  },
  rows: (found) => ('services' in found ? found.services : undefined),
  columns: columnsOf(service, 'own'),
  view(found, io) {
    if (!('services' in found)) {
      // On a terminal each line gets a prefix; a pipe gets the raw Markdown.
      for (const line of linesOf(found.guide_markdown.trimEnd())) io.line(io.isTty ? dim('│ ') + line : line)
      return
    }
    printRows(io, columnsOf(service, 'own'), found.services)
    io.note(`${found.services.length} of ${found.total} services`)
    for (const [at, { title }] of found.guide.steps.entries()) io.note(`  ${at + 1}. ${title}`)
    io.note(`  how: ${cyan(io.hint('souk services discover --guide'))}`)
  },
})

const columns: readonly Column<ListingFinding>[] = [
  { title: 'CHECK', value: ({ check }) => check },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'FOUND', value: ({ found }) => found, flexible: true },
  { title: 'MEND', value: ({ mend }) => mend, drop: 1 },
]
const marks = { ok: green('✓'), warn: yellow('!'), fail: red('✗') }

export const servicesDoctor = defineCommand({
  name: 'services doctor',
  summary: 'check a listing for problems, each with the command that fixes it',
  description:
    'Checks schemas, example input, price, provider endpoint, the 402 for x402 v1 and v2 clients, and what buyers see. Buys nothing; sends a test message to your endpoint. Exits with code 11 if a check fails.',
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  examples: ['souk services doctor qr_code', 'souk services doctor qr_code --json --fields healthy,findings'],
  async run(context) {
    const session = await context.session()
    const listing = await findListing(session, context.args.service)
    const caller = await ownId(session).catch((error: unknown) => {
      // Without an account, the listing is checked as an anonymous user sees it.
      if (error instanceof AppError || (error instanceof Error && error.name === 'CliError')) return undefined
      throw error
    })
    const findings = await diagnose(session, listing, listing.provider_id === caller)
    const healthy = findings.every(({ state }) => state !== 'fail')
    if (!healthy) context.exit('check_failed')
    return { service_id: listing.id, name: listing.name, healthy, findings }
  },
  rows: ({ findings }) => findings,
  columns,
  view({ service_id, name, findings }, io) {
    io.line(`${bold(name)}   ${service_id}`)
    for (const { check, state, found, mend } of findings) {
      io.line(`  ${marks[state]} ${check.padEnd(11)} ${found}`)
      if (mend !== null) io.line(`    ${cyan(io.hint(mend))}`)
    }
  },
})

export const servicesEdit = defineCommand({
  name: 'services edit',
  summary: 'change one of your listings',
  args: z.object({ service: z.string().meta({ description: 'id of the listing' }) }),
  options: z.object({
    file: z.text({ short: 'f', description: `${DOCUMENT} of the changes, - for stdin`, value: 'file' }),
    set: z.list({ description: 'a field of the listing', value: 'field=value' }),
    editor: z.flag({ description: 'edit the listing in $VISUAL or $EDITOR' }),
  }),
  examples: [
    'souk services edit svc_0123456789abcdef --set price=0.75',
    'souk services edit svc_0123456789abcdef --set status=inactive --json',
  ],
  prints: 'updateService',
  async run(context) {
    const { file, set, editor } = context.options
    if (file === undefined && set.length === 0 && !editor)
      throw usage('Give at least one change, such as --set price=0.75, or use --editor.')
    const fields = {
      ...(file === undefined ? {} : await readObjectFile(context.io, file, 'the listing')),
      ...readSettings(set),
    }
    const session = await context.session()
    const { service: id } = context.args
    const update = (body: Readonly<Record<string, unknown>>) =>
      session.call('updateService', { params: { id }, body: unjudged<SentBody<'updateService'>>(body) })
    if (!editor) return update(fields)
    const listing = await ownListing(session, id)
    const text = await listingDraft({ ...listing, ...fields })
    return inEditor(context, { name: id, text, take: (draft) => update(changesIn(listing, draft)) })
  },
  view: (listing, io) => io.line(`${green('✓')} ${bold(listing.id)} changed   ${listing.name}   ${listing.status}`),
})

export const servicesInquire = defineCommand({
  name: 'services inquire',
  summary: 'ask a provider about a service; opens a conversation',
  args: z.object({ service: z.string().meta({ description: 'id or name' }) }),
  options: z.object({
    message: z.text({ short: 'm', description: 'your question, or - for stdin', value: 'text' }),
    input: z.list({ short: 'i', description: 'one input field; needs no --message', value: 'name=value' }),
    interactive: z.flag({ description: 'ask for each input, then confirm the price' }),
  }),
  examples: [
    'souk services inquire svc_0123456789abcdef -m "Could you do ten at once?"',
    'souk services inquire svc_0123456789abcdef -i pages=12 --json',
  ],
  prints: 'inquire',
  async run(context) {
    const { message, input, interactive } = context.options
    if (message === undefined && input.length === 0 && !interactive)
      throw usage('Give your question: -m TEXT, -i NAME=VALUE, or --interactive.')
    if (message !== undefined && (input.length > 0 || interactive))
      throw usage('-m TEXT and input fields cannot be combined.')
    const session = await context.session()
    const listing = await findListing(session, context.args.service)
    const given = inputFrom(listing.input_schema, input)
    const read = interactive ? await askedInput(context.io, listing, given) : given
    checkNames(listing, read.unknown)
    const text = message === '-' ? (await context.io.stdin()).trimEnd() : message
    const asked = {
      params: { id: listing.id },
      body: { brief: text ?? unjudged<Exclude<SentBody<'inquire'>['brief'], string>>(read.input) },
    }
    const what = { ...wordsOf('inquire', asked), title: `ask about ${listing.name}`, input: read.input }
    const host = interactive ? await agreedTo(context, session, what) : context
    const { answer } = await pay(host, session, { endpoint: 'inquire', asked })
    return answer
  },
  view({ thread_id, service_id }, io) {
    io.line(`${green('✓')} asked about ${service_id}   ${thread_id}`)
    io.note(`  next: ${cyan(io.hint(`souk threads view ${thread_id}`))}`)
  },
})
