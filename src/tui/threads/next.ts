import { buyerOf, priceOf, providerOf, type Thread } from '../../nouns/threads.ts'
import { clip, safe, widthOf } from '../../text/text.ts'
import { accent, dim, hair, type Line, lineWidth } from '../parts/line.ts'
import { keyFor } from '../shell/bindings.ts'
import type { View } from '../shell/screen.ts'

const WHO_COLUMNS = 10
/** Minimum width for the hint that says how to write as a party of the conversation. */
const ROOMY_COLUMNS = 60
/** The command is indented by this many columns. */
const SAME_COLUMNS = 10

type Next = {
  readonly admin: boolean
  /** Whether the conversation belongs to others and the operator may only read it. */
  readonly isForeign: boolean
  readonly view: View
  readonly width: number
}

/** What can be done next, with the keys and a shell command. The operator sees who may answer. */
export function nextLines(thread: Thread, next: Next): Line[] {
  const { admin, view, width } = next
  const { speaker } = view.ui
  const command = sameAs(thread, next)
  const as = speaker === undefined ? '' : ` --as ${speaker.wallet}`
  return [
    [hair('─'.repeat(width))],
    actsLine(thread, next),
    ...(admin && speaker === undefined ? [whoseLine(thread, next)] : []),
    [dim(' same as  '), widthOf(command + as) + SAME_COLUMNS <= width ? command + as : command],
  ]
}

function actsLine(thread: Thread, { view: { keys, ui }, width }: Next): Line {
  const key = (action: Parameters<typeof keyFor>[0], word: string): Line => [
    accent(keyFor(action, keys)),
    ` ${word}   `,
  ]
  const pays = mayAccept(thread, ui) ? key('add', `accept, pay ${priceOf(thread)}`) : []
  const isBegun = thread.status === 'inquiry' || thread.status === 'negotiating'
  const does = isBegun ? key('remove', 'decline') : []
  const who: Line = [dim(` as ${clip(ui.speaker?.wallet ?? safe(buyerOf(thread)), WHO_COLUMNS)}   `)]
  const all = [...who, ...pays, ...does, ...key('write', 'write'), ...key('attach', 'attach')]
  return lineWidth(all) <= width ? all : [...who, ...pays]
}

function whoseLine(thread: Thread, { isForeign, width }: Next): Line {
  const whose = isForeign
    ? `only ${clip(safe(providerOf(thread)), WHO_COLUMNS)} answers here`
    : 'i: write as the marketplace'
  return [dim(` ${whose}${width >= ROOMY_COLUMNS ? '; as a party:  :as NAME' : ''}`)]
}

function sameAs(thread: Thread, { view: { ui } }: Next): string {
  // The command names the price, so that no more can be paid.
  return mayAccept(thread, ui)
    ? `souk threads accept ${thread.id} --max-price ${thread.proposal?.agent_price}`
    : `souk threads send ${thread.id} …`
}

function mayAccept({ proposal, agent_id }: Thread, { speaker }: View['ui']): boolean {
  return proposal?.status === 'open' && (speaker === undefined || speaker.id === agent_id)
}
