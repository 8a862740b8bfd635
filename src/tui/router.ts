import { tableOf } from '../core/record.ts'
import { MINUTE_MS } from '../core/time.ts'
import type { ScreenId } from '../nouns/screens.ts'
import { safe } from '../text/text.ts'
import { withoutAnswer } from './ground.ts'
import { atEnd, type Cursor, edited, inserted, type Key, type KeyFlags, keysOf, type Written } from './parts/keys.ts'
import type { Hit } from './parts/line.ts'
import { hitAt, type Pointer } from './parts/mouse.ts'
import { openCard } from './people/card.ts'
import { pickerKey, pickerPaste } from './picking.ts'
import { askRunbook } from './programs.ts'
import { askUser, refuse, showToast } from './shell/ask.ts'
import { type Action, bindingOf, bindingsOn } from './shell/bindings.ts'
import { startDaemon } from './shell/commands.ts'
import { copy, copyCommand } from './shell/copy.ts'
import { type Dialog, dialogKey, dialogPaste } from './shell/dialog.ts'
import { markAll, markChosen, meant } from './shell/marks.ts'
import { pauseDialog } from './shell/pause-dialog.ts'
import type { Host } from './shell/screen.ts'
import {
  choose,
  chosenIndex,
  goBack,
  goForward,
  goTo,
  type Picker,
  paneBeside,
  stepNames,
  type Toast,
  type Ui,
  walked,
} from './shell/ui.ts'

const FILTER_CHARS_MAX = 100

export type RouterParts = {
  readonly host: Host
  readonly digits: Readonly<Record<string, ScreenId>>
  readonly quit: () => void
  readonly suspend: () => void
  /** Redraws everything. */
  readonly repaint: () => void
}

export type Router = {
  /** Handles a chunk of input. Each key sees what the key before it changed. */
  readonly press: (input: string, flags: KeyFlags) => void
  readonly paste: (text: string) => void
  readonly point: (pointer: Pointer) => void
  /** Called after each draw. Handles the key presses that waited for it. */
  readonly drawn: () => void
}

/** Limit on keys that wait because their screen is not drawn yet. Further keys are dropped. */
const KEYS_WAITING_MAX = 1_000

/** The first key after this long without one also brings a line about what happened since the last one. */
const AWAY_MS = 10 * MINUTE_MS

export function createRouter(parts: RouterParts): Router {
  const { host } = parts
  let waiting: Key[] = []
  let lastAt = host.clock.now()

  function touched(): void {
    const since = lastAt
    lastAt = host.clock.now()
    if (lastAt - since >= AWAY_MS) void import('./feed/news.ts').then(({ tellNews }) => tellNews(host, since))
  }

  function go(): void {
    for (;;) {
      const { screen, dialog } = host.ui.get()
      const [key, ...rest] = waiting
      if (key === undefined || (dialog === undefined && host.face.current.screen !== screen)) return
      waiting = rest
      onKey(parts, key)
    }
  }

  return {
    press(input, flags) {
      const keys = keysOf(withoutAnswer(input), flags)
      if (keys.length > 0) touched()
      // Ends a running program first, and quits if none runs.
      if (keys.includes('ctrl-c') && !host.programs?.stop()) parts.quit()
      waiting = [...waiting, ...keys].slice(0, KEYS_WAITING_MAX)
      go()
    },
    point: createPointing({ host, act: (action, key) => act(parts, action, key), press: (key) => onKey(parts, key) }),
    paste(text) {
      touched()
      const ui = host.ui.get()
      if (host.face.current.isCard) return
      const line = safe(text.replace(/\s+/g, ' '))
      if (ui.dialog) host.ui.set({ ...ui, dialog: dialogPaste(ui.dialog, text) })
      else if (ui.picker) host.ui.set({ ...ui, picker: pickerPaste(ui.picker, line) })
      else if (ui.typing) writeFilter(host, inserted(filterOf(ui, ui.typing), line, FILTER_CHARS_MAX))
    },
    drawn: () => queueMicrotask(go),
  }
}

function onKey(parts: RouterParts, key: Key): void {
  const shown = parts.host.ui.get()
  const { toast } = shown
  // Any key dismisses a toast and does its action. Esc only dismisses it.
  const isNews = toast?.news !== undefined && isUnread(parts.host, toast.news)
  const isRead = toast?.stays === false && !isNews && key !== 'esc'
  const ui = isRead ? { ...shown, toast: undefined } : shown
  if (isRead) parts.host.ui.set(ui)
  if (isRead && toast.news !== undefined && key === 'enter') toast.news.open()
  else if (key === 'ctrl-z') parts.suspend()
  else if (parts.host.face.current.isCard) onCard(parts, key)
  else if (ui.dialog) inDialog(parts, ui.dialog, key)
  else if (ui.picker) inPicker(parts, ui.picker, key)
  else if (ui.typing) inFilter(parts, { ...ui, typing: ui.typing }, key)
  else onScreen(parts, key)
}

/** Whether news was not shown long enough, or the keys go to what is drawn over the screen. */
function isUnread({ ui, clock, face }: Host, { readAt }: NonNullable<Toast['news']>): boolean {
  const { dialog, picker, typing } = ui.get()
  return clock.now() < readAt || face.current.isCard === true || (dialog ?? picker ?? typing) !== undefined
}

/** In a window too small for the screen, only the key to quit works. */
function onCard({ host, quit }: RouterParts, key: Key): void {
  const { screen } = host.ui.get()
  if (bindingOf(key, { screen, readonly: host.readonly, keys: host.keys })?.action === 'quit') quit()
}

function onScreen(parts: RouterParts, key: Key): void {
  const { host } = parts
  const { screen } = host.ui.get()
  const binding = bindingOf(key, { screen, readonly: host.readonly, keys: host.keys })
  if (binding?.runbook) askRunbook(host, binding.runbook)
  else if (binding) act(parts, binding.action, key)
}

function act(parts: RouterParts, action: Action, key: Key): void {
  const own = parts.host.face.current.actions[action]
  if (own) own()
  else common[action]?.(parts, key)
}

type Act = (parts: RouterParts, key: Key) => void

const onUi =
  (change: (ui: Ui, host: Host) => Ui): Act =>
  ({ host }) =>
    host.ui.set(change(host.ui.get(), host))

/** Moves the cursor in a list without pages. */
const move = (change: (ui: Ui, ids: readonly string[]) => Ui): Act =>
  onUi((ui, host) => unfollowed(change(ui, host.face.current.ids)))

/** Cycles matches. */
const hit =
  (by: number): Act =>
  (parts, key) => {
    const { screen, filters } = parts.host.ui.get()
    const isFound = parts.host.face.current.ids.length > 0
    if (isFound && filters[screen])
      move((ui, ids) => choose(ui, ids, (chosenIndex(ui, ids) + by + ids.length) % ids.length))(parts, key)
    else refuse(parts.host, isFound ? 'There is no filter: type / to set one.' : 'No match.')
  }

/** Cycles tabs. */
const beside =
  (by: number): Act =>
  ({ host, digits }) => {
    const ui = host.ui.get()
    const ids = Object.values(digits)
    host.ui.set(goTo(ui, ids[(ids.indexOf(ui.screen) + by + ids.length) % ids.length] ?? ui.screen))
  }

/** Default actions, used where the screen defines none of its own. */
const common: Readonly<Partial<Record<Action, Act>>> = {
  ...tableOf(stepNames, (step) => move((ui, ids) => walked(ui, ids, { step, lastPage: 0 }))),
  goto: ({ host, digits }, key) => {
    const screen = digits[key]
    if (screen) host.ui.set(goTo(host.ui.get(), screen))
  },
  nextScreen: beside(1),
  previousScreen: beside(-1),
  back: onUi(goBack),
  forward: onUi(goForward),
  lastScreen: onUi((ui) => goTo(ui, ui.past.at(-1) ?? ui.screen)),
  leave: onUi(left),
  nextHit: hit(1),
  previousHit: hit(-1),
  find: onUi((ui) => ({ ...ui, typing: atEnd, pane: paneBeside })),
  help: onUi((ui) => ({ ...ui, picker: { kind: 'help', text: '', at: 0 } })),
  palette: onUi((ui) => ({ ...ui, picker: { kind: 'palette', text: '', at: 0 } })),
  elsewhere: onUi((ui) => ({ ...ui, picker: { kind: 'palette', text: '@', at: 0 } })),
  columns: onUi((ui) => ({ ...ui, picker: { kind: 'columns', text: '', at: 0 } })),
  person({ host }) {
    const { ids, who = () => [ids[chosenIndex(host.ui.get(), ids)]] } = host.face.current
    void openCard(host, who())
  },
  copyId({ host }) {
    const { ids } = host.face.current
    const meantIds = meant(host.ui.get(), ids, (id) => id)
    if (meantIds.length > 0) copy(host, meantIds.join('\n'))
  },
  copyCommand({ host }) {
    const { ids, screen } = host.face.current
    copyCommand(
      host,
      screen,
      meant(host.ui.get(), ids, (id) => id),
    )
  },
  mark: onUi((ui, { face }) => markChosen(ui, face.current.ids)),
  markAll: onUi((ui, { face }) => markAll(ui, face.current.ids)),
  save: onUi((ui) => ({ ...ui, picker: { kind: 'save', text: '', at: 0 } })),
  refresh: ({ host }) => host.queries.refetch(),
  repaint: ({ repaint }) => repaint(),
  freeze: ({ host }) => {
    const frozen = !host.ui.get().frozen
    host.queries.freeze(frozen)
    host.ui.set({ ...host.ui.get(), frozen })
  },
  pause: ({ host }) => askUser(host, pauseDialog(host)),
  start: ({ host }) => startDaemon(host),
  quit: ({ quit }) => quit(),
}

/** One step back. Closes the first that applies: message, opened row, marks, filter, panel, screen. */
function left(ui: Ui): Ui {
  if (ui.toast) return { ...ui, toast: undefined }
  if (ui.pane.open !== 'beside') return { ...ui, pane: paneBeside }
  if (ui.marked[ui.screen]?.length) return { ...ui, marked: { ...ui.marked, [ui.screen]: [] } }
  if (ui.filters[ui.screen]) {
    return { ...ui, filters: { ...ui.filters, [ui.screen]: '' }, pages: { ...ui.pages, [ui.screen]: 0 } }
  }
  if (ui.screen === 'overview' && ui.panel !== 'needs') return { ...ui, panel: 'needs' }
  return goBack(ui)
}

function inPicker(parts: RouterParts, picker: Picker, key: Key): void {
  const { host } = parts
  const put = (next: Picker | undefined) => host.ui.set({ ...host.ui.get(), picker: next })
  const step = pickerKey(host, picker, key)
  if (step.to === 'stay') put(step.picker)
  else {
    put(undefined)
    if (step.to === 'key') onScreen(parts, step.key)
    else if (step.to === 'do') step.act()
  }
}

const filterOf = (ui: Ui, cursor: Cursor): Written => ({ text: ui.filters[ui.screen] ?? '', cursor })

function inFilter(parts: RouterParts, ui: Ui & { readonly typing: Cursor }, key: Key): void {
  const { host } = parts
  if (key === 'enter') host.ui.set({ ...ui, typing: undefined })
  else if (key === 'esc') writeFilter(host, { text: '', cursor: undefined })
  else if (key === 'up' || key === 'down') act(parts, key, key)
  else writeFilter(host, edited(filterOf(ui, ui.typing), key, FILTER_CHARS_MAX))
}

/** Sets the filter and returns to the first page. */
function writeFilter(
  { ui: state }: Host,
  { text, cursor }: Omit<Written, 'cursor'> & { cursor: Cursor | undefined },
): void {
  const ui = state.get()
  const filters = { ...ui.filters, [ui.screen]: text }
  state.set({ ...ui, filters, typing: cursor, pages: { ...ui.pages, [ui.screen]: 0 } })
}

function inDialog({ host }: RouterParts, dialog: Dialog, key: Key): void {
  // `c` copies the command only while a button has the focus. In a field it is text.
  if (key === 'c' && dialog.focus >= dialog.spec.fields.length) {
    copy(host, dialog.spec.command(dialog.values))
    return
  }
  const step = dialogKey(dialog, key, host.face.current.reach)
  if (step.to === 'close') host.ui.set({ ...host.ui.get(), dialog: undefined })
  else if (step.to === 'stay') host.ui.set({ ...host.ui.get(), dialog: step.dialog })
  else void send(host, dialog)
}

/** Sends the request of a dialog, then fetches all data again. Opens the dialog that follows, or shows the error. */
async function send(host: Host, dialog: Dialog): Promise<void> {
  const put = (next: Dialog | undefined) => host.ui.set({ ...host.ui.get(), dialog: next })
  const busy: Dialog = { ...dialog, busy: true, problem: undefined }
  put(busy)
  const outcome = await dialog.spec.send(dialog.values)
  host.queries.refetch()
  if (host.ui.get().dialog !== busy) return
  put(outcome.ok ? undefined : { ...dialog, busy: false, problem: outcome.problem })
  if (!outcome.ok) return
  const { value: told } = outcome
  showToast(host, typeof told === 'string' ? { text: told, tone: 'good', stays: false } : { ...told, stays: true })
  const next = await dialog.spec.next?.()
  const { screen, picker, typing, dialog: open, toast } = host.ui.get()
  if (next === undefined || open || picker || typing || screen !== host.face.current.screen) return
  askUser(host, next)
  host.ui.set({ ...host.ui.get(), toast })
}

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
function createPointing(parts: PointingParts): (pointer: Pointer) => void {
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
const unfollowed = (ui: Ui): Ui => ({ ...ui, logs: { ...ui.logs, follow: ui.logs.follow && ui.screen !== 'logs' } })

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
