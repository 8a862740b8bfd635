import { Box, Text, useApp, useInput, usePaste, useWindowSize } from 'ink'
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { ScreenId } from '../nouns/screens.ts'
import { usePlaces } from './elsewhere.ts'
import {
  bodyArea,
  cardLines,
  dialogBox,
  floatArea,
  helpBox,
  isTooSmall,
  linesAbove,
  linesBelow,
  pickerBox,
  toHeight,
  withMessage,
} from './frame.ts'
import { faceless } from './host.ts'
import { withoutPutOff } from './overview/put-off.ts'
import type { Painter } from './painter.ts'
import { chosenAt, floating } from './parts/float.ts'
import { flat, type Line, sized } from './parts/line.ts'
import { type Look, paint } from './parts/theme.ts'
import { cardQuery, namedQuery, nextWords, nextWordsName, picksOf, titled } from './picking.ts'
import { createRouter, type Router } from './router.ts'
import { loadScreen, screenOf, tabs } from './screens.ts'
import type { DialogEvidence } from './shell/dialog.ts'
import { fetchRiver } from './shell/figures.ts'
import { useSettled } from './shell/finding.ts'
import { fetchNeeds } from './shell/needs.ts'
import { waitingLines } from './shell/notice.ts'
import { fetchClock, fetchHealth, fetchPauseReason, SLOW_EVERY_MS } from './shell/queries.ts'
import { ONCE_MS, QueriesContext, useQuery } from './shell/query.ts'
import type { Face, FrameView, Host, Screen, ScreenArea, Size } from './shell/screen.ts'

const TICK_MS = 1_000
/** Fields and buttons of a dialog with evidence, and some lines of the evidence. */
const EVIDENCE_ROWS_LEAST = 16

export type CockpitProps = {
  readonly host: Host
  readonly look: Look
  readonly onSuspend: () => void
  /** Turns the terminal's mouse reports on or off. */
  readonly reportMouse: (isOn: boolean) => void
  /** Undefined if Ink draws the frames. */
  readonly painter: Painter | undefined
}

export function Cockpit(props: CockpitProps) {
  return (
    <QueriesContext value={props.host.queries}>
      <Frame {...props} />
    </QueriesContext>
  )
}

function Frame(props: CockpitProps) {
  const { host, look, painter } = props
  const size = useWindowSize()
  const view = useView(host, size)
  const screen = useLoaded(view.ui.screen)
  const router = useRouter(props)
  useOneInstance(host, view.health.value?.instanceId)
  const face = (next: Face) => {
    host.face.current = next
    router.drawn()
  }
  const part = { look, view, size, face, painter }
  if (isTooSmall(size)) return <Card host={host} {...part} />
  if (screen)
    return <Body key={`${view.ui.screen} ${screen.part?.(view.ui) ?? ''}`} host={host} screen={screen} {...part} />
  return <Whole body={[]} {...part} />
}

/** The screen, once its module is loaded. Keys pressed before that wait in a queue. */
function useLoaded(id: ScreenId): Screen | undefined {
  const [, setTimes] = useState(0)
  useEffect(() => {
    if (screenOf(id) === undefined) void loadScreen(id).then(() => setTimes((times) => times + 1))
  }, [id])
  return screenOf(id)
}

function useView(host: Host, size: Size): FrameView {
  const ui = useSyncExternalStore(host.ui.subscribe, host.ui.get)
  const health = useQuery(fetchHealth(host.link), { name: 'health', every: host.refreshMs })
  const where = useQuery(host.link.whereabouts, { name: 'whereabouts', every: host.refreshMs })
  useQuery(fetchPauseReason(host.link), { name: 'pause', every: SLOW_EVERY_MS })
  const waiting = useQuery(fetchNeeds(host.link), { name: 'needs', every: host.refreshMs })
  const putOffs = useSyncExternalStore(host.putOffs.subscribe, host.putOffs.get)
  const stream = useSyncExternalStore(host.stream.subscribe, host.stream.get)
  const now = useNow(host)
  const clock = useQuery(fetchClock(host.link), { name: 'clock', every: SLOW_EVERY_MS })
  const { link, refreshMs, readonly, keys } = host
  const needs = withoutPutOff(waiting, putOffs, { instance: health.value?.instanceId ?? '', now })
  const area = bodyArea(size)
  const isPushed = stream.state === 'live'
  const told = { health, needs, clock, where: where.value, isPushed }
  return { ...told, ui, area, now, place: link.place, refreshMs, readonly, keys }
}

/** The current time, updated every full second. */
function useNow({ clock }: Host): number {
  const [now, setNow] = useState(clock.now)
  useEffect(() => clock.later(TICK_MS - (now % TICK_MS), () => setNow(clock.now())), [clock, now])
  return now
}

function useRouter({ host, onSuspend, reportMouse, painter }: CockpitProps): Router {
  const { exit, suspendTerminal } = useApp()
  const leave = useRef({ exit, suspendTerminal })
  useLayoutEffect(() => {
    leave.current = { exit, suspendTerminal }
  })
  const isOpen = useRef(false)
  // Ink ends the tree before it lets a signal or an exit end the process.
  useLayoutEffect(() => {
    isOpen.current = true
    reportMouse(true)
    return () => {
      isOpen.current = false
      reportMouse(false)
    }
  }, [reportMouse])
  const router = useMemo(() => {
    const digits = Object.fromEntries(tabs.map(({ digit, id }) => [digit, id]))
    const back = () => {
      painter?.again()
      host.queries.refetch()
    }
    host.lend.current = async (use) => {
      painter?.hold(true)
      reportMouse(false)
      await leave.current.suspendTerminal(use).finally(() => painter?.hold(false))
      // An editor may end after the cockpit.
      if (isOpen.current) reportMouse(true)
      back()
    }
    const suspend = () => void host.lend.current(onSuspend)
    const quit = () => leave.current.exit()
    const made = createRouter({ host, digits, quit, suspend, repaint: () => painter?.again() })
    host.point.current = made.point
    return made
  }, [host, onSuspend, reportMouse, painter])
  useInput(router.press)
  usePaste(router.paste)
  return router
}

/** Resets the event stream if a different installation answers at the address, since its event log differs. */
function useOneInstance({ stream }: Host, instanceId: string | undefined): void {
  const known = useRef<string>(undefined)
  useEffect(() => {
    if (instanceId === undefined) return
    if (known.current !== undefined && known.current !== instanceId) stream.reset()
    known.current = instanceId
  }, [stream, instanceId])
}

type PartProps = {
  readonly look: Look
  readonly view: FrameView
  readonly size: Size
  readonly painter: Painter | undefined
  /** Tells the router what the screen shows. */
  readonly face: (face: Face) => void
}

/** Dims a line. With `keepsChosen`, pieces on the chosen row's background keep their colors. */
function dimmed(line: Line, keepsChosen: boolean): Line {
  if (!keepsChosen) return flat(line, 'dim')
  return line.map((piece) => {
    if (typeof piece === 'string') return { text: piece, tone: 'dim' }
    return piece.ground === 'chosen' ? piece : { ...piece, tone: 'dim' }
  })
}

function Card({ host, look, view, size, painter, face }: PartProps & { readonly host: Host }) {
  const river = useQuery(fetchRiver(host.link), { name: 'river', every: host.refreshMs })
  // Money figures are left out while the instance cannot be reached, since they would be stale.
  const current = view.health.problem === undefined && river.problem === undefined ? river.value : undefined
  useLayoutEffect(() => face({ ...faceless(view.ui.screen), isCard: true }))
  return <Rows lines={cardLines(view, current, size)} {...{ size, look, painter }} />
}

const noEvidence: DialogEvidence = { name: 'no evidence', fetch: async () => ({ ok: true, value: () => [] }) }

function Body({ host, screen, ...part }: PartProps & { readonly host: Host; readonly screen: Screen }) {
  const { view, face, size } = part
  const drawn: Face = { ...screen.use(host, view), screen: view.ui.screen }
  const { name, fetch } = view.ui.dialog?.spec.evidence ?? noEvidence
  const evidence = useQuery(fetch, { name, every: ONCE_MS })
  const under = drawn.draw(view.area)
  const box = boxOf()
  const card = cardQuery(host, view.ui.picker)
  useQuery(card.fetch, { name: card.name, every: SLOW_EVERY_MS })
  const named = namedQuery(host, view.ui.picker, useSettled(view.ui.picker?.text ?? '', host.clock))
  useQuery(named.fetch, { name: named.name, every: ONCE_MS })
  usePlaces(host)
  useQuery(nextWords(host, view.ui.picker), { name: nextWordsName(view.ui.picker), every: ONCE_MS })
  const lines = frameLines(withMessage(bodyLines(), view, drawn.problem), { ...view, hints: drawn.hints }, size)
  useLayoutEffect(() => face({ ...drawn, reach: box?.reach ?? 0, frame, lines }))
  return <Rows lines={lines} {...part} />

  function frame(): readonly Line[] {
    const plain = { ...view, hints: drawn.hints, ui: { ...view.ui, picker: undefined, dialog: undefined } }
    return frameLines(withMessage(under, plain, drawn.problem), plain, size)
  }

  function bodyLines(): readonly Line[] {
    if (box) {
      const room = floatArea(view, drawn.problem)
      return floating(
        box.lines,
        under.map((line) => dimmed(line, true)),
        room,
      )
    }
    // Stale values stay readable, but dimmed.
    const isStale = view.health.value !== undefined && view.health.problem !== undefined
    return isStale ? under.map((line) => dimmed(line, view.ui.screen === 'overview')) : under
  }

  /** Evidence leaves the row that it is about visible above it, if it still has enough room to be read. */
  function besideChosen(room: ScreenArea): ScreenArea {
    const height = room.height - chosenAt(under) - 1
    return view.ui.dialog?.spec.evidence && height >= EVIDENCE_ROWS_LEAST ? { ...room, height } : room
  }

  /** The open dialog or picker, drawn over the screen. */
  function boxOf(): { readonly lines: readonly Line[]; readonly reach?: number } | undefined {
    const { dialog, picker } = view.ui
    const room = floatArea(view, drawn.problem)
    if (dialog)
      return dialogBox(dialog, besideChosen(room), (width) => evidence.value?.(width) ?? waitingLines(evidence, width))
    if (picker?.kind === 'help' && picker.text === '') {
      const where = { screen: view.ui.screen, readonly: view.readonly, keys: view.keys }
      return { lines: helpBox({ where, title: screen.title, at: picker.at }, room) }
    }
    return picker && { lines: pickerBox(titled(host, picker), picksOf(host, picker), room) }
  }
}

function Whole({ body, view, size, look, painter }: PartProps & { readonly body: readonly Line[] }) {
  return <Rows lines={frameLines(body, view, size)} {...{ size, look, painter }} />
}

function frameLines(body: readonly Line[], view: FrameView, size: Size): readonly Line[] {
  return [...linesAbove(view, size), ...toHeight(body, view.area.height), ...linesBelow(view, size)]
}

type RowsProps = Pick<PartProps, 'look' | 'size' | 'painter'> & { readonly lines: readonly Line[] }

function Rows({ lines, size, look, painter }: RowsProps) {
  useLayoutEffect(() => painter?.show(lines, size))
  if (painter) return null
  return (
    <Box width={size.columns} height={size.rows} flexDirection='column'>
      {lines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row of the screen is known by its place and nothing else
        <Text key={i} wrap='truncate-end'>
          {paint(sized(line, size.columns), look)}
        </Text>
      ))}
    </Box>
  )
}
