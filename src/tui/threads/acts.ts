import type { Held } from '../../client/link.ts'
import { buyerOf, priceOf, providerOf, type Thread } from '../../nouns/threads.ts'
import { microOf } from '../../text/columns.ts'
import { safe } from '../../text/text.ts'
import { said, spoken } from '../shell/act-dialogs.ts'
import { askAnyway, refuse, type Sent, shellCommand } from '../shell/ask.ts'
import type { HintWords } from '../shell/bindings.ts'
import { type DialogSpec, type Field, needed } from '../shell/dialog.ts'
import { ask } from '../shell/queries.ts'
import type { Face, Host } from '../shell/screen.ts'
import { chosenIndex } from '../shell/ui.ts'
import { aboutThread, acceptDialog, acceptWords, attachDialog, note, PARTY } from './speaking.ts'

type Voice = {
  /** Id of the participant who writes: the chosen speaker, or the user. */
  readonly me: string | undefined
  readonly speaker: Held | undefined
  /** Provider id of the chosen conversation, if the operator may only read that conversation. */
  readonly foreign: string | undefined
}

const partOf = (me: string | undefined) => {
  const isProvider = ({ provider_id }: Thread) => me === provider_id
  return { isProvider, isParty: (thread: Thread) => isProvider(thread) || (me !== undefined && me === thread.agent_id) }
}

/** Removes from the key row the keys that this person may not use on this conversation. */
export function threadHints(thread: Thread | undefined, { me, speaker, foreign }: Voice): HintWords {
  if (thread === undefined) return {}
  const { isProvider, isParty } = partOf(me)
  const can = (may: boolean) => (may ? undefined : false)
  const isForeign = thread.provider_id === foreign || speaker !== undefined
  return {
    write: can(isParty(thread) || !isForeign),
    offer: can(isProvider(thread)),
    add: can(speaker !== undefined && speaker.id === thread.agent_id),
    remove: can(isParty(thread)),
    attach: can(isParty(thread)),
  }
}

/**
 * Actions on the chosen conversation. It is looked up when the key is pressed, since an earlier key may have moved the
 * cursor.
 */
export function threadActs(host: Host, threads: readonly Thread[], { me, speaker, foreign }: Voice): Face['actions'] {
  const ids = threads.map(({ id }) => id)
  const on = (act: (thread: Thread) => void) => () => {
    const thread = threads[chosenIndex(host.ui.get(), ids)]
    if (thread !== undefined) act(thread)
  }
  const { isProvider, isParty } = partOf(me)
  const only = (words: string, ...command: readonly string[]) =>
    refuse(host, `${words}  → ${shellCommand(host, ['threads', ...command])}`)
  const say = (spec: DialogSpec) => askAnyway(host, said(host, spec))
  return {
    write: on((thread) => {
      const isForeign = (thread.provider_id === foreign || speaker !== undefined) && !isParty(thread)
      if (isForeign)
        only(
          `Only ${named(providerOf, thread)} and ${named(buyerOf, thread)} can write here, not ${speaker?.wallet ?? 'the house'}.`,
          'send',
          thread.id,
        )
      else say(writeDialog(host, thread, isParty(thread) ? 'party' : 'house'))
    }),
    offer: on((thread) => {
      if (isProvider(thread)) say(offerDialog(host, thread))
      else only(`Only ${named(providerOf, thread)} can offer a price.`, 'propose', thread.id)
    }),
    // Accepting pays, so it needs the buyer's wallet. Without that wallet, the command is shown instead.
    add: on((thread) => {
      const { proposal, agent_id: buyer } = thread
      if (speaker === undefined) only(`Its buyer pays ${priceOf(thread) ?? 'it'}.`, ...acceptWords(thread))
      else if (speaker.id !== buyer)
        only(`Only ${named(buyerOf, thread)} can accept a price here.`, ...acceptWords(thread))
      else if (proposal?.status !== 'open') refuse(host, 'There is no offer to accept.')
      else say(acceptDialog(host, thread))
    }),
    remove: on((thread) => {
      if (isParty(thread)) say(declineDialog(host, thread))
      else only('Only the two parties can end a conversation.', 'decline', thread.id)
    }),
    attach: on((thread) => {
      if (isParty(thread)) askAnyway(host, spoken(host, attachDialog(host, thread), speaker))
      else
        refuse(
          host,
          `Only ${named(buyerOf, thread)} and ${named(providerOf, thread)} can attach files here.  → :as NAME writes as one of them`,
        )
    }),
  }
}

/** A name that a party chose itself, sanitised for a terminal. */
function named(sideOf: (thread: Thread) => string, thread: Thread): string {
  return safe(sideOf(thread))
}

/** Who writes: a party, or the operator for the marketplace's own services (`house`). */
type Speaker = 'party' | 'house'

const message = needed({ name: 'message', label: 'Message (the other side reads it)' }, 'words')

export function writeDialog(host: Host, thread: Thread, speaker: Speaker): DialogSpec {
  const { id } = thread
  const words = speaker === 'party' ? ['threads', 'send', id] : ['admin', 'threads', 'send', id]
  return {
    title: 'WRITE A MESSAGE',
    as: speaker === 'party' ? PARTY : 'the house',
    facts: () => aboutThread(thread),
    fields: [message],
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

/** Dialog that offers a price as the provider. The buyer sees the price with the fee added. */
export function offerDialog(host: Host, thread: Thread): DialogSpec {
  const price: Field = {
    name: 'price',
    label: 'Your price in USD',
    check: (value) => (microOf(value) === undefined ? 'needs a price like 8.00' : undefined),
  }
  return {
    title: 'OFFER A PRICE',
    as: 'its provider',
    facts: () => [
      ...aboutThread(thread),
      ['What it does', 'the buyer can accept it until it expires; nothing is paid now'],
    ],
    fields: [price, note],
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

export function declineDialog(host: Host, thread: Thread): DialogSpec {
  return {
    title: 'END A CONVERSATION',
    as: PARTY,
    facts: () => [...aboutThread(thread), ['What it does', 'closes the conversation; no money moves']],
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
