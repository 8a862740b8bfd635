import { microOf } from '../../text/columns.ts'
import type { Sent } from '../shell/ask.ts'
import type { DialogSpec, Field } from '../shell/dialog.ts'
import { nameField, shellCommand, targetFacts } from '../shell/pause-dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Host } from '../shell/screen.ts'
import type { ThreadFacts } from './facts.ts'

/** Whom one speaks for: a party of the conversation, or the operator for the house. */
export type Speaker = 'party' | 'house'

const message: Field = {
  name: 'message',
  label: 'Message (the other side reads it)',
  check: (value) => (value.trim() === '' ? 'needs words' : undefined),
}

const about = (host: Host, thread: ThreadFacts, as: string): (readonly [string, string])[] => [
  ...targetFacts(host).filter(([label]) => label !== 'as'),
  ['as', as],
  ['', ''],
  ['conversation', thread.id],
  ['between', `${thread.buyer} and ${thread.provider}, about ${thread.service}`],
]

/** Says something in a conversation. */
export function writeDialog(host: Host, thread: ThreadFacts, speaker: Speaker): DialogSpec {
  const { id } = thread
  const words = speaker === 'party' ? ['threads', 'send', id] : ['admin', 'threads', 'send', id]
  return {
    title: 'WRITE A MESSAGE',
    facts: () => about(host, thread, speaker === 'party' ? 'the party whose key this machine has' : 'the house'),
    fields: [message, ...nameField(host)],
    verb: 'Send',
    command: ({ message: said = '' }) => shellCommand(host, [...words, said || '…']),
    send: ({ message: said = '' }): Sent => {
      const asked = { params: { id }, body: { message: said.trim() } }
      return speaker === 'party'
        ? ask(host.link, { name: 'postThreadMessage', asked }, () => 'The message is sent.')
        : ask(host.link, { name: 'answerForHouse', asked }, () => 'The message is sent.')
    },
  }
}

/** Names a price as the provider; the buyer sees it with the fee on it, and pays no more. */
export function offerDialog(host: Host, thread: ThreadFacts): DialogSpec {
  const price: Field = {
    name: 'price',
    label: 'Your price in USD',
    check: (value) => (microOf(value) === undefined ? 'needs a price like 8.00' : undefined),
  }
  return {
    title: 'OFFER A PRICE',
    facts: () => [
      ...about(host, thread, 'its provider'),
      ['What it does', 'the buyer can accept it until it expires; nothing is paid now'],
    ],
    fields: [price, { ...message, label: 'Message (may stay empty)', check: () => undefined }, ...nameField(host)],
    verb: 'Offer',
    command: ({ price: amount = '', message: said = '' }) =>
      shellCommand(host, [
        'threads',
        'propose',
        thread.id,
        '--price',
        amount || '…',
        ...(said === '' ? [] : ['--message', said]),
      ]),
    send: ({ price: amount = '', message: said = '' }): Sent => {
      const body = { price: amount.replace('$', ''), ...(said.trim() === '' ? {} : { message: said.trim() }) }
      return ask(
        host.link,
        { name: 'proposePrice', asked: { params: { id: thread.id }, body } },
        ({ proposal }) => `Offered: the buyer pays $${proposal?.agent_price ?? amount}.`,
      )
    },
  }
}

/** Ends a conversation without a price. */
export function declineDialog(host: Host, thread: ThreadFacts): DialogSpec {
  return {
    title: 'END A CONVERSATION',
    facts: () => [
      ...about(host, thread, 'the party whose key this machine has'),
      ['What it does', 'it ends without a price, and no money moves'],
    ],
    fields: nameField(host),
    verb: 'End',
    command: () => shellCommand(host, ['threads', 'decline', thread.id]),
    send: (): Sent =>
      ask(
        host.link,
        { name: 'declineThread', asked: { params: { id: thread.id }, body: {} } },
        ({ status }) => `It is ${status}.`,
      ),
  }
}
