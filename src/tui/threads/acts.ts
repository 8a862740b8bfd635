import type { Held } from '../../client/link.ts'
import { askAnyway, refuse } from '../shell/ask.ts'
import type { DialogSpec } from '../shell/dialog.ts'
import { shellCommand } from '../shell/pause-dialog.ts'
import type { Face, Host } from '../shell/screen.ts'
import { chosenIndex } from '../shell/ui.ts'
import { declineDialog, offerDialog, writeDialog } from './dialogs.ts'
import type { ThreadFacts } from './facts.ts'
import { acceptDialog, acceptWords, attachDialog, spoken } from './speaking.ts'

type Voice = {
  /** Who speaks: whose API key is in use, or who was named. */
  readonly me: string | undefined
  readonly speaker: Held | undefined
  /** Provider of the chosen one where nobody here speaks for it. */
  readonly foreign: string | undefined
}

/**
 * What can be done depends on whose key this machine has. The chosen one is looked up when the key comes: one before
 * it, in the same piece of input, may have moved it.
 */
export function threadActs(
  host: Host,
  threads: readonly ThreadFacts[],
  { me, speaker, foreign }: Voice,
): Face['actions'] {
  const ids = threads.map(({ id }) => id)
  const on = (act: (thread: ThreadFacts) => void) => () => {
    const thread = threads[chosenIndex(host.ui.get(), ids)]
    if (thread !== undefined) act(thread)
  }
  const isProvider = ({ providerId }: ThreadFacts) => me === providerId
  const isParty = (thread: ThreadFacts) => isProvider(thread) || (me !== undefined && me === thread.buyerId)
  const only = (words: string, ...command: readonly string[]) =>
    refuse(host, `${words}  → ${shellCommand(host, ['threads', ...command])}`)
  const say = (spec: DialogSpec) => askAnyway(host, speaker === undefined ? spec : spoken(host, spec, speaker))
  return {
    write: on((thread) => {
      const isForeign = (thread.providerId === foreign || speaker !== undefined) && !isParty(thread)
      if (isForeign)
        only(`Only ${thread.provider} and ${thread.buyer} speak here, not ${whoOf(speaker)}.`, 'send', thread.id)
      else say(writeDialog(host, thread, isParty(thread) ? 'party' : 'house'))
    }),
    offer: on((thread) => {
      if (isProvider(thread)) say(offerDialog(host, thread))
      else only(`Only ${thread.provider} names a price.`, 'propose', thread.id)
    }),
    // Accepting pays: without the wallet of the buyer, the command line shows the price and asks.
    add: on((thread) => {
      const { price, offer, buyer, buyerId } = thread
      if (speaker === undefined) only(`Its buyer pays ${price || 'it'}.`, ...acceptWords(thread))
      else if (speaker.id !== buyerId) only(`Only ${buyer} accepts a price here.`, ...acceptWords(thread))
      else if (offer?.status !== 'open') refuse(host, 'No price is offered that could be accepted.')
      else say(acceptDialog(host, thread))
    }),
    remove: on((thread) => {
      if (isParty(thread)) say(declineDialog(host, thread))
      else only('Only its two parties end it.', 'decline', thread.id)
    }),
    attach: on((thread) => {
      if (isParty(thread)) askAnyway(host, spoken(host, attachDialog(host, thread), speaker))
      else refuse(host, `Only ${thread.buyer} and ${thread.provider} attach files here.  → :as NAME speaks for one`)
    }),
  }
}

function whoOf(speaker: Held | undefined): string {
  return speaker?.wallet ?? 'the house'
}
