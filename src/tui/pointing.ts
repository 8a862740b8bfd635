import type { Key } from './parts/keys.ts'
import type { Hit } from './parts/line.ts'
import { hitAt, type Pointer } from './parts/mouse.ts'
import { type Action, bindingsOn } from './shell/bindings.ts'
import type { Host } from './shell/screen.ts'
import { choose, chosenIndex, goTo, type Ui } from './shell/ui.ts'

/** Rows by which a turn of the wheel moves. */
const WHEEL_ROWS = 3

type PointingParts = {
  readonly host: Host
  /** Runs an action of the screen. */
  readonly act: (action: Action, key: Key) => void
  /** What a key does in the open dialog or picker. */
  readonly press: (key: Key) => void
}

const rowOf = (hit: Hit | undefined) => (hit && 'row' in hit ? hit.row : undefined)

/** What the mouse does. A click answers no dialog or picker; the wheel only scrolls them. */
export function createPointing(parts: PointingParts): (pointer: Pointer) => void {
  const { host } = parts
  let clicked: string | undefined
  return ({ does, column, row }) => {
    const { ids, lines = [], isCard, screen } = host.face.current
    if (isCard || screen !== host.ui.get().screen) return
    const hit = hitAt(lines[row - 1] ?? [], column - 1)
    if (does !== 'click') return turnWheel(parts, does, hit)
    const isAgain = rowOf(hit) === clicked && ids[chosenIndex(host.ui.get(), ids)] === clicked
    clicked = rowOf(hit)
    click(parts, hit, isAgain)
  }
}

/** A click opens a tab, chooses a row, or opens the row that was clicked before. */
function click(parts: PointingParts, hit: Hit | undefined, isAgain: boolean): void {
  const { host } = parts
  const ui = host.ui.get()
  if (hit === undefined || ui.dialog || ui.picker) return
  if ('tab' in hit) host.ui.set(goTo(ui, hit.tab))
  else if (isAgain) openRow(parts)
  else chooseRow(host, hit.row)
}

function openRow({ host, act }: PointingParts): void {
  const { screen } = host.ui.get()
  const open = bindingsOn({ screen, readonly: host.readonly, keys: host.keys }).find(({ action }) => action === 'open')
  if (open) act(open.action, open.keys[0])
}

function chooseRow({ ui: state, face }: Host, id: string): void {
  const { ids, choose: own } = face.current
  const ui = state.get()
  if (own) own(id)
  else if (ids.includes(id)) state.set(unfollowed(choose(ui, ids, ids.indexOf(id))))
}

/** In the logs, a chosen row ends following the newest one. */
export const unfollowed = (ui: Ui): Ui => ({
  ...ui,
  logs: { ...ui.logs, follow: ui.logs.follow && ui.screen !== 'logs' },
})

function turnWheel(parts: PointingParts, step: 'up' | 'down', hit: Hit | undefined): void {
  const { dialog, picker, pane } = parts.host.ui.get()
  // At the first choice, the key would recall an earlier line.
  const isTop = step === 'up' && picker?.at === 0
  if (dialog) parts.press(step === 'up' ? 'pageup' : 'pagedown')
  else if (picker && !isTop) parts.press(step)
  else if (!picker) turnList(parts, step, pane.open === 'beside' ? rowOf(hit) : '')
}

/** @param row - under the mouse; empty over an opened row */
function turnList({ host, act }: PointingParts, step: 'up' | 'down', row: string | undefined): void {
  if (row === undefined) return
  // In another panel, the row under the mouse is chosen first.
  if (row !== '' && !host.face.current.ids.includes(row)) chooseRow(host, row)
  else for (let rows = 0; rows < WHEEL_ROWS; rows += 1) act(step, step)
}
