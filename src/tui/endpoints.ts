import { wrap } from '../text/text.ts'
import { blank, dim, good, type Line, type Piece, rule, spread, strong, warn } from './parts/line.ts'
import { type ScreenColumn, tableLines } from './parts/table.ts'
import { type Door, doorCounts } from './shell/health.ts'
import { staleness, waitingLines } from './shell/notice.ts'
import type { Host, Screen, ScreenArea, View } from './shell/screen.ts'
import { chosenIndex, passes, statusChoices, type Ui } from './shell/ui.ts'

/** Of the height, at most one part in so many goes to a description. */
const DRAWER_SHARE = 6

export const endpointsScreen: Screen = {
  id: 'endpoints',
  digit: '6',
  title: 'Endpoints',
  short: 'Endp',
  use: useEndpoints,
}

function useEndpoints(host: Host, view: View): ReturnType<Screen['use']> {
  const doors = listed(view.health.value?.endpoints ?? [], view.ui)
  const ids = doors.map(idOf)
  return {
    ids,
    draw: (area) => endpointLines({ ...view, doors, chosen: chosenIndex(view.ui, ids) }, area),
    actions: {
      status() {
        const ui = host.ui.get()
        const next = statusChoices[(statusChoices.indexOf(ui.status) + 1) % statusChoices.length]
        if (next !== undefined) host.ui.set({ ...ui, status: next })
      },
    },
  }
}

const idOf = ({ method, path }: Door) => `${method} ${path}`

function listed(doors: readonly Door[], { status, filters }: Ui): readonly Door[] {
  const filter = filters.endpoints ?? ''
  return doors.filter(
    (door) => (status === 'all' || door.status === status) && passes(filter, Object.values(door).join(' ')),
  )
}

type Model = View & { readonly doors: readonly Door[]; readonly chosen: number }

export function endpointLines(model: Model, area: ScreenArea): Line[] {
  const health = model.health.value
  if (health === undefined) return waitingLines(model.health, area.width)
  const door = model.doors[model.chosen]
  const drawer = door === undefined ? [] : [rule(area.width, idOf(door)), ...aboutLines(door, area), blank]
  const height = Math.max(1, area.height - 3 - drawer.length)
  const { doors: rows, chosen } = model
  const table = tableLines({ columns, rows, chosen, width: area.width, height })
  return [rule(area.width, 'Endpoints'), choiceLine(model, area.width), table.head, ...table.body, ...drawer]
}

function choiceLine({ health, ui, doors, now }: Model, width: number): Line {
  const counts = health.value ? doorCounts(health.value) : { live: 0, paused: 0, deferred: 0 }
  const all = counts.live + counts.paused + counts.deferred
  const choices = statusChoices.flatMap((name): Piece[] => {
    const word = `${name} ${name === 'all' ? all : counts[name]}`
    return [' ', name === ui.status ? strong(`[${word}]`) : dim(word)]
  })
  const filter = ui.filters.endpoints ?? ''
  const typed = ui.typing || filter !== '' ? [`   /${filter}${ui.typing ? '▏' : ''}`] : []
  const stale = staleness(health, now)
  return spread(
    width,
    [...choices, ...typed],
    [...(stale ? [warn(`! ${stale}  `)] : []), filter === '' ? '' : `${doors.length} of ${all} `],
  )
}

const words: Readonly<Record<Door['status'], Piece>> = {
  live: good('● live'),
  paused: warn('‖ paused'),
  deferred: dim('× deferred'),
}

const columns: readonly ScreenColumn<Door>[] = [
  { title: 'METHOD', value: ({ method }) => method },
  { title: 'PATH', value: ({ path }) => path, min: 24 },
  { title: 'PRICE', value: ({ price }) => price, align: 'right', exact: true },
  { title: 'STATUS', value: ({ status }) => words[status] ?? status },
  { title: 'WHAT', value: ({ description }) => dim(description), min: 12, drop: 1 },
]

function aboutLines({ description, price }: Door, { width, height }: ScreenArea): Line[] {
  const most = Math.max(1, Math.floor(height / DRAWER_SHARE))
  const what = wrap(description, width - 10).slice(0, most)
  return [...what.map((text, i): Line => [dim(i === 0 ? ' what    ' : '         '), text]), [dim(' price   '), price]]
}
