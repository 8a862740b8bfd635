import type { CommandContext } from '../../cli/command.ts'
import { unjudged } from '../../cli/files/document.ts'
import type { Session } from '../../cli/session.ts'
import { explained, spenderOf, spendOf } from '../../cli/wallet/spending.ts'
import type { SentBody } from '../../client/asked.ts'
import type { Words } from '../../client/call.ts'
import type { Chosen } from '../../client/pay.ts'
import { apiKeyOf, keepApiKey } from '../../client/secrets.ts'
import { createBudget } from '../../client/spending/budget.ts'
import { chargeSpend, signSpend } from '../../client/spending/gate.ts'
import { createWallet, getWallet, unlockWallet, walletNames } from '../../client/wallets.ts'
import { AppError, type ErrorCode } from '../../core/error.ts'
import { MAX_AMOUNT } from '../../core/money.ts'
import { compact } from '../../core/record.ts'
import { type Operator, operatorOf, type Person, type Purse, personOf, type Stage } from '../hand.ts'
import { sandboxStage } from '../stage.ts'
import { type Act, actNames, type SeedFile, type Someone } from './shape.ts'

type Context = CommandContext<unknown, unknown>

export type Played = { readonly step: string; readonly did: string; readonly id: string | null }

type Cast = ReadonlyMap<string, Person>
type Bought = Map<string, { readonly id: string; readonly buyer: Person; readonly seller: Person }>

/** Applies a validated file; existing people and listings are reused. */
export async function* play(host: Context, session: Session, file: SeedFile): AsyncGenerator<Played> {
  const stage = await sandboxStage(host, session)
  const operator = operatorOf(stage)
  const cast = new Map<string, Person>()
  for (const [i, someone] of file.people.entries()) {
    const person = await joined(host, session, { stage, operator, someone })
    cast.set(someone.name, person)
    yield { step: `people.${i}`, did: `${someone.name} is there`, id: person.id }
  }
  const sold = new Map<string, { id: string; seller: Person }>()
  for (const [i, { by, ...fields }] of file.services.entries()) {
    const seller = whoIs(cast, by)
    const id = await listed(seller, fields)
    sold.set(fields.name, { id, seller })
    yield { step: `services.${i}`, did: `${by} offers ${fields.name}`, id }
  }
  const bought: Bought = new Map()
  for (const [i, act] of file.acts.entries()) {
    const name = actNames.find((one) => act[one] !== undefined) ?? 'buy'
    const id = await done({ cast, sold, bought }, act).catch((error: unknown) =>
      Promise.reject(placed(error, `acts.${i}.${name}`)),
    )
    yield { step: `acts.${i}`, did: name, id }
  }
}

/** Adds to a refusal's message the place in the file. */
function placed(error: unknown, path: string): unknown {
  if (!(error instanceof AppError)) return error
  return new AppError(error.code, `${path}: ${error.message}`, { details: error.details ?? [], cause: error })
}

function whoIs(cast: Cast, name: string): Person {
  const person = cast.get(name)
  if (!person) throw new Error(`${name} is not in the file`)
  return person
}

type Joining = { readonly stage: Stage; readonly operator: Operator; readonly someone: Someone }

async function joined(host: Context, session: Session, { stage, operator, someone }: Joining): Promise<Person> {
  const { places, io } = host
  const { name, title = name, type, funds, deposit } = someone
  if (!walletNames(places).includes(name)) {
    await createWallet(places, { name, createdAt: new Date(io.now()).toISOString(), active: false })
  }
  const ask = () => io.ask(`Passphrase of wallet ${name}:`, { hidden: true, flag: 'SOUK_PASSPHRASE_FILE=FILE' })
  const secret = await unlockWallet(places, name, ask)
  const purse = gatedPurse(host, session, name)
  const stranger = await personOf(stage, { name, secret, purse, id: '', key: '' })
  const { instance } = session.target
  const known = await stranger.call('getParticipant', { params: { id: stranger.address } }).catch(unless('not_found'))
  await operator.call('faucet', { body: { wallet: stranger.address, amount: funds } })
  const kept = known && apiKeyOf(places, instance, stranger.address)
  if (known && kept !== undefined) return personOf(stage, { name, secret, purse, id: known.id, key: kept })
  const fresh = known
    ? await stranger.pay('rotateKey', {})
    : await stranger.pay('register', { body: { name: title, type } })
  const key = fresh.api_key ?? ''
  keepApiKey(places, instance, { wallet: stranger.address, key })
  const person = await personOf(stage, { name, secret, purse, id: fresh.participant_id, key })
  if (deposit !== undefined) await person.pay('deposit', { body: { amount: deposit } })
  return person
}

/** A purse that keeps to a local wallet's spending policy. It has no other limit, since the user approved the file. */
function gatedPurse(host: Context, session: Session, name: string): Purse {
  const spender = { ...host, budget: createBudget() }
  const spend = ({ price, payTo }: Chosen, call: Words) =>
    spendOf(spender, session, { price, payTo, call, limit: MAX_AMOUNT, wallet: getWallet(host.places, name) })
  return {
    sign: async (chosen, account, call) =>
      signSpend(spenderOf(spender), await spend(chosen, call), { chosen, account }).catch(explained),
    charge: async (chosen, call) => chargeSpend(spenderOf(spender), await spend(chosen, call)).catch(explained),
  }
}

function unless(code: ErrorCode): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof AppError && error.code === code) return undefined
    throw error
  }
}

async function listed(seller: Person, fields: Readonly<Record<string, unknown>> & { readonly name: string }) {
  const { services } = await seller.call('getCatalog', { query: { mine: 'true' } })
  const known = services.find(({ name, status }) => name === fields.name && status === 'active')
  return known?.id ?? (await seller.call('createService', { body: unjudged<SentBody<'createService'>>(fields) })).id
}

type Board = {
  readonly cast: Cast
  readonly sold: ReadonlyMap<string, { readonly id: string; readonly seller: Person }>
  readonly bought: Bought
}

/** Performs one of the actions that a seed file lists. @returns the id of the job that the action is about */
async function done(board: Board, act: Act): Promise<string | null> {
  const { cast, sold, bought } = board
  if (act.buy) {
    const { who, service, input, from, as } = act.buy
    const buyer = whoIs(cast, who)
    const offer = sold.get(service)
    if (!offer) throw new Error(`${service} is not in the file`)
    const { job_id: id } = await buyer.pay('purchaseService', { params: { id: offer.id }, body: input }, from)
    bought.set(as, { id, buyer, seller: offer.seller })
    return id
  }
  const about = act.message ?? act.start ?? act.deliver ?? act.fail ?? act.verify ?? act.dispute
  const job = about && bought.get(about.job)
  if (!job) return null
  await followUp(board, act, job)
  return job.id
}

type BoughtJob = Bought extends Map<string, infer J> ? J : never

async function followUp({ cast }: Board, act: Act, { id, buyer, seller }: BoughtJob): Promise<void> {
  const params = { id }
  const { message, start, deliver, fail, verify, dispute } = act
  if (message) await whoIs(cast, message.who).call('postJobMessage', { params, body: { message: message.text } })
  if (start) await seller.call('updateJob', { params, body: { status: 'in_progress' } })
  if (deliver) {
    const { deliverables, notes } = deliver
    await seller.call('updateJob', { params, body: { status: 'completed', deliverables, ...compact({ notes }) } })
  }
  if (fail) await seller.call('updateJob', { params, body: { status: 'failed', ...compact({ notes: fail.notes }) } })
  if (verify) {
    const { rating, comment } = verify
    await buyer.pay('verifyJob', { params, body: compact({ rating, comment }) })
  }
  if (dispute) await buyer.pay('disputeJob', { params, body: { reason: dispute.reason, category: 'quality' } })
}
