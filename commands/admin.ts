import { existsSync } from 'node:fs'
import * as fields from '../src/api/endpoint/list-fields.ts'
import { holdOrders } from '../src/api/endpoint/list-orders.ts'
import { defineCall, defineCommand } from '../src/cli/command.ts'
import { CliError, usage } from '../src/cli/exit.ts'
import { listCommand, offeredStatus } from '../src/cli/nouns/lists.ts'
import { searchOptions } from '../src/cli/nouns/search-options.ts'
import * as z from '../src/cli/params.ts'
import { wouldDo } from '../src/cli/session.ts'
import { formatAmount, parseAmount, ZERO } from '../src/core/money.ts'
import { compact } from '../src/core/record.ts'
import { showKeys } from '../src/lifecycle/restore.ts'
import { askBackup, saveBackup } from '../src/lifecycle/save-backup.ts'
import { heldKinds } from '../src/model/ledger.ts'
import { attemptStatuses, payoutStates, postingStatuses } from '../src/model/words.ts'
import { act, hold, payee, payout } from '../src/nouns/money.ts'
import { rowsOf } from '../src/nouns/noun.ts'
import { plan } from '../src/nouns/plans.ts'
import { posting } from '../src/nouns/postings.ts'
import { product } from '../src/nouns/products.ts'
import { service } from '../src/nouns/services.ts'
import { subscription } from '../src/nouns/subscriptions.ts'
import { type VerificationAttempt, verification } from '../src/nouns/verifications.ts'
import { byteSize, cyan, green, shellLine } from '../src/text/text.ts'

export const adminAdjust = defineCall({
  name: 'admin adjust',
  summary: 'move money between a balance and the operator',
  description: 'Needs the admin key of the instance. Adjustments with the same --idempotency-key apply once.',
  args: z.object({
    participant: z.string().meta({ description: 'id of the participant' }),
    amount: z.string().meta({ description: 'amount in USDC, such as 1.50' }),
  }),
  options: z.object({
    take: z.flag({ description: 'take from the balance (default: add to it)' }),
    reason: z.string().meta({ description: 'reason, saved in the log', value: 'text' }),
    settles: z.text({
      description: 'id of the unserved period or kept payment to settle, from `souk attention`',
      value: 'id',
    }),
  }),
  examples: [
    'souk admin adjust p_0123456789abcdef 0.01 --take --reason "chargeback 17" --dry-run',
    'souk admin adjust p_0123456789abcdef 0.01 --reason goodwill --dry-run --json',
  ],
  asks: 'adjustBalance',
  asked(context) {
    const { participant, amount: text } = context.args
    const { take, reason, settles } = context.options
    const amount = parseAmount(text)
    if (amount === undefined || amount === ZERO) throw usage(`The amount must be like 1.50; you gave "${text}".`)
    return {
      params: { id: participant },
      body: { amount: formatAmount(take ? -amount : amount), reason, ...compact({ settles }) },
      headers: { 'idempotency-key': context.globals.idempotencyKey ?? crypto.randomUUID() },
    }
  },
  view: ({ adjusted, balance }, io) => io.line(`${green('✓')} $${adjusted}; the balance is $${balance}`),
})

const STDOUT = '-'

export const adminBackup = defineCommand({
  name: 'admin backup',
  summary: 'back up a running instance to one tar file',
  description:
    'A consistent snapshot; the instance keeps running. The file holds the data of all participants: keep it private. Needs the admin key of the instance.',
  args: z.object({ file: z.string().meta({ description: 'file to write, - for stdout' }) }),
  options: z.object({ force: z.flag({ description: 'overwrite an existing file' }) }),
  examples: ['souk admin backup market.tar --force', 'souk admin backup market.tar --force --json'],
  async run(context) {
    const { args, options, globals, io } = context
    const file = args.file === STDOUT ? null : args.file
    wouldDo(globals, `save a backup to ${args.file}`)
    if (file !== null && existsSync(file) && !options.force) {
      throw new CliError('conflict', `${io.path(file)} already exists.`, {
        next: [shellLine`souk admin backup ${file} --force`],
      })
    }
    const session = await context.session()
    const saved = await saveBackup(context, await askBackup(session, globals), file)
    const { mode, gas_key: gas, pay_to } = await session.call('getChain', {})
    return { ...saved, keys: gas && mode !== 'devnet' ? { chain: mode, gas: gas.address, pay_to } : null }
  },
  view({ file, size_bytes, sha256, keys }, io) {
    if (file === null) return
    io.line(`${green('✓')} saved ${io.path(file)}   ${byteSize(size_bytes)}   sha256 ${sha256}`)
    showKeys(keys, io)
    io.note(`  next: ${cyan(io.hint(shellLine`souk restore ${file}`))}`)
  },
})

export const adminHolds = listCommand(hold, {
  name: 'admin holds',
  search: searchOptions(fields.holdFields, holdOrders),
  summary: 'list held money: owner, reason and what happens next',
  options: { kind: z.choice(heldKinds, { description: 'only this kind of account', value: 'kind' }) },
  examples: [
    'souk admin holds',
    'souk admin holds --kind esc --json',
    'souk admin holds --sort soonest',
    'souk admin holds --filter "amount:>1" --sort -amount',
  ],
})

export const adminLog = listCommand(act, {
  name: 'admin log',
  search: searchOptions(fields.actFields),
  summary: 'list administrator actions, newest first',
  description: 'Needs the admin key of the instance. See one action in detail with `souk why REQUEST`.',
  examples: ['souk admin log', 'souk admin log --limit 5 --json', 'souk admin log --filter "act:pause changed:yes"'],
})

/** A sample line of the Prometheus text format 0.0.4, such as `souk_x_total{a="b"} 3`. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/

export const adminMetrics = defineCommand({
  name: 'admin metrics',
  summary: 'show Prometheus metrics',
  description: 'Needs the admin key of the instance.',
  options: z.object({
    match: z.string().default('').meta({ description: 'only metrics whose name starts with this', value: 'prefix' }),
  }),
  examples: ['souk admin metrics --match souk_', 'souk admin metrics --match souk_http --json'],
  async run(context) {
    const answer = await (await context.session()).open('getMetrics', {})
    const samples = (await answer.text()).split('\n').flatMap((line) => {
      const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [{ name, labels, value }]
    })
    return { samples: samples.filter(({ name }) => name.startsWith(context.options.match)) }
  },
  rows: ({ samples }) => samples,
  columns: [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'LABELS', value: ({ labels }) => labels },
    { title: 'VALUE', value: ({ value }) => value },
  ],
  view({ samples }, io) {
    for (const { name, labels, value } of samples) io.line(`${name}${labels === '' ? '' : `{${labels}}`} ${value}`)
  },
})

export const adminPayees = listCommand(payee, {
  name: 'admin payees',
  search: searchOptions(fields.payeeFields),
  summary: 'list providers with sales, earnings, payouts, and amounts due and held',
  examples: [
    'souk admin payees',
    'souk admin payees --filter "due:>1" --sort -due',
    'souk admin payees --sort -sold --limit 3',
    'souk admin payees --json',
  ],
})

export const adminPayouts = listCommand(payout, {
  name: 'admin payouts',
  search: searchOptions(fields.payoutFields),
  summary: 'list payouts on the chain, newest first',
  options: { status: z.choice(payoutStates, { description: 'only in this state', value: 'state' }) },
  examples: [
    'souk admin payouts',
    'souk admin payouts --status confirmed --json',
    'souk admin payouts --filter "status:failed,needs_operator" --sort -amount',
  ],
})

export const adminPlansList = listCommand(plan, {
  name: 'admin plans list',
  search: searchOptions(fields.planFields),
  summary: 'list all plans; filter and sort by any field',
  options: { status: offeredStatus },
  examples: ['souk admin plans list', 'souk admin plans list --filter "period:annual" --sort -subscribers --json'],
})

export const adminProductsList = listCommand(product, {
  name: 'admin products list',
  search: searchOptions(fields.productFields),
  summary: 'list all products; filter and sort by any field',
  examples: ['souk admin products list', 'souk admin products list --filter "status:draft" --sort -price --json'],
})

export const adminRequestsList = listCommand(posting, {
  name: 'admin requests list',
  search: searchOptions(fields.postingFields),
  summary: 'list all requests for work; filter and sort by any field',
  options: { status: z.choice(postingStatuses, { description: 'only in this state (default: open)', value: 'state' }) },
  examples: ['souk admin requests list', 'souk admin requests list --status expired --filter "bids:0" --json'],
})

export const adminServicesList = listCommand(service, {
  name: 'admin services list',
  search: searchOptions(fields.serviceFields),
  summary: 'list all listings; filter and sort by any field',
  options: { status: offeredStatus },
  examples: [
    'souk admin services list',
    'souk admin services list --filter "hook:failing !souk"',
    'souk admin services list --sort -reputation --json',
  ],
})

export const adminSubsList = listCommand(subscription, {
  name: 'admin subs list',
  search: searchOptions(fields.subscriptionFields),
  summary: 'list all subscriptions; filter and sort by any field',
  options: { ended: z.flag({ description: 'show ended subscriptions instead of current ones' }) },
  examples: ['souk admin subs list', 'souk admin subs list --filter "status:past_due" --sort -failed --json'],
})

export const adminVerificationList = listCommand(verification, {
  name: 'admin verification list',
  search: searchOptions(fields.verificationFields),
  isDefault: true,
  summary: 'list identity verification attempts, newest first',
  description:
    'Needs the admin key of the instance. In the sandbox, decide an attempt with `souk verify approve` or `souk verify reject`.',
  options: { status: z.choice(attemptStatuses, { description: 'only in this state', value: 'state' }) },
  examples: [
    'souk admin verification',
    'souk admin verification list --json',
    'souk admin verification list --sort -age',
  ],
  note(page, io) {
    const open = rowsOf<VerificationAttempt>(page).flatMap((one) => verification.nextOf?.(one) ?? [])[0]
    if (open !== undefined) io.note(`  next: ${cyan(io.hint(open))}`)
  },
})
