import { MAX_DEPOSIT, MIN_DEPOSIT } from '../../src/api/balance.ts'
import type { api } from '../../src/api/index.ts'
import { AppError, invalidField } from '../../src/core/error.ts'
import { DEFAULT_PAGE } from '../../src/core/limits.ts'
import { formatAmount, type Usdc, usdc } from '../../src/core/money.ts'
import type { ParticipantRow } from '../../src/model/participant.ts'
import { balanceFacts, balanceView, entryView } from '../balance.ts'
import type { FreeHandler, PaidHandler, Payer } from '../handler.ts'
import { postings } from '../rules/books.ts'
import { history } from '../store/collections.ts'
import { emit } from '../store/event-log.ts'
import { offsetPage } from '../store/offset-page.ts'

export const getBalance: FreeHandler<typeof api.getBalance> = async (_input, { world, caller }) =>
  world.store.read((t) => balanceView(t, caller))

export const getBalanceHistory: FreeHandler<typeof api.getBalanceHistory> = async ({ query }, { world, caller }) => {
  const { limit = DEFAULT_PAGE, offset = 0 } = query
  const slice = { index: 'participant', prefix: [caller.id], limit, offset }
  const { rows, total } = await world.store.read((t) => offsetPage(t.table(history), slice))
  return { entries: rows.map(entryView), total, limit, offset }
}

/** Adds to the balance of the paying wallet's participant what its authorization was for (decisions §4). */
export const deposit: PaidHandler<typeof api.deposit> = {
  async quote({ query, body }) {
    const amount = asked(query.amount, body?.amount)
    const description = 'deposit into the balance'
    return amount === undefined
      ? { price: MIN_DEPOSIT, upTo: MAX_DEPOSIT, settle: 'first', description }
      : { price: amount, settle: 'first', description }
  },

  async check(_input, { payer }) {
    registered(payer)
  },

  async effect(t, draw, { payer, payment, now }) {
    const participant = registered(payer)
    const { total } = await balanceFacts(t, participant)
    const transactionId = draw.id('transaction')
    const subject = { kind: 'participant', id: participant.id }
    await emit(t, draw, {
      type: 'balance.deposited',
      participantId: participant.id,
      subject,
      data: { amount: formatAmount(payment.price), transaction_id: transactionId },
      at: now,
    })
    return {
      kind: 'deposit',
      ref: { kind: 'receipt', id: payment.receipt_id },
      transactionId,
      legs: postings.deposit({ participantId: participant.id, amount: payment.price }),
      answer: {
        balance: usdc(total + payment.price),
        credited: payment.price,
        transaction_id: transactionId,
      },
    }
  },
}

function registered({ participant }: Payer): ParticipantRow {
  if (participant) return participant
  throw new AppError('registration_required', 'Only a registered wallet has a balance: POST /v1/register first.')
}

function asked(inQuery: Usdc | undefined, inBody: Usdc | undefined): Usdc | undefined {
  if (inQuery !== undefined && inBody !== undefined && inQuery !== inBody) {
    throw invalidField('amount', 'differs between body and query: send one')
  }
  const amount = inBody ?? inQuery
  if (amount !== undefined && (amount < MIN_DEPOSIT || amount > MAX_DEPOSIT)) {
    throw invalidField('amount', `must be from ${formatAmount(MIN_DEPOSIT)} to ${formatAmount(MAX_DEPOSIT)}`)
  }
  return amount
}
