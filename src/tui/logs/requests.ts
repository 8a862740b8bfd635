import { useMemo, useState } from 'react'
import { count } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { toItsJob } from '../jobs/its-job.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { dim, type Line } from '../parts/line.ts'
import { type ScreenColumn, windowStart } from '../parts/table.ts'
import { findingOf, narrowed, useSettled } from '../shell/finding.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import type { Host, Screen, View } from '../shell/screen.ts'
import { logTabs } from '../shell/ui.ts'
import {
  type AskedFacts,
  type AskedView,
  askedFields,
  askedOf,
  COUNTED_MAX,
  fetchRequests,
  fetchSteps,
  isIn,
  joined,
  type StepCounts,
} from './asked.ts'
import { chosenIn, type Listed, listedFace, tabIn } from './listed.ts'
import { storyLines, useStory } from './story.ts'

/** A request with how long its story is, where that is known. */
type Counted = AskedFacts & { readonly steps: number | undefined }

const empty: Readonly<Record<AskedView, string>> = {
  requests: 'nobody has asked for anything yet',
  paid: 'nobody has paid for anything yet: v shows what was asked',
  refused: 'nothing was refused: every request got what it asked for, or its price',
  admin: 'the operator has changed nothing yet',
}

/** A hook: what was asked of the marketplace, each with its story. */
export function useAsked(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const asked = viewOf(view)
  const query = useQuery(fetchRequests(host.link), { name: 'requests', every: host.refreshMs })
  const all = useMemo(() => (query.value ?? []).filter(isIn[asked]), [query.value, asked])
  const finding = findingOf(ui, 'logs', askedFields)
  const found = joined(narrowed(all, finding, { fields: askedFields, factsOf: askedOf, now: view.now }))
  const ids = found.map(({ id }) => id)
  const chosen = chosenIn(ui, ids)
  const counts = useCounts(host, inSight(ids, chosen, area.height))
  const rows = found.map((one) => counted(one, counts.get(one.id)))
  const story = useStory(host, ids[chosen] ?? '')
  const row = rows[chosen]
  const drawer = (width: number): readonly Line[] =>
    tabIn(ui, logTabs) === 'json' ? jsonLines(row?.raw) : storyLines(story, width)
  const listed: Listed<Counted> = {
    query,
    columns,
    rows,
    idOf,
    chosen,
    of: count(joined(all).length),
    empty: empty[asked],
    drawer,
    tabs: logTabs,
    view,
  }
  const told = [row?.jobId, row?.path, ...(story?.steps ?? []).map(({ id }) => id ?? '')]
  return listedFace(host, listed, {
    fields: askedFields,
    problem: finding.problem,
    actions: { itsJob: () => toItsJob(host, told) },
  })
}

/** A row is the same object for as long as it says the same: what is drawn of it is kept by it. */
const known = new WeakMap<AskedFacts, Counted>()

function counted(asked: AskedFacts, steps: number | undefined): Counted {
  const before = known.get(asked)
  if (before !== undefined && before.steps === steps) return before
  const row: Counted = { ...asked, steps }
  known.set(asked, row)
  return row
}

const idOf = ({ id }: Counted) => id

function viewOf({ ui }: View): AskedView {
  const { view } = ui.logs
  return view === 'paid' || view === 'refused' || view === 'admin' ? view : 'requests'
}

/** Rows that can be seen at that height, and no more than are counted at once. */
function inSight(ids: readonly string[], chosen: number, height: number): readonly string[] {
  const many = Math.min(height, COUNTED_MAX)
  const first = windowStart({ rows: ids, chosen, height: many })
  return ids.slice(first, first + many)
}

const COUNTS_KEPT = 1_000

/** A hook: how long the stories of the rows in sight are; what is known stays until it is told anew. */
function useCounts(host: Host, ids: readonly string[]): StepCounts {
  const wanted = useSettled(ids.join(','), host.clock)
  const told = useQuery(fetchSteps(host.link, wanted), { name: `steps ${wanted}`, every: SLOW_EVERY_MS })
  const [known] = useState(() => new Map<string, number>())
  if (known.size > COUNTS_KEPT) known.clear()
  for (const [id, steps] of told.value ?? []) known.set(id, steps)
  return known
}

const columns: readonly ScreenColumn<Counted>[] = [
  { title: 'TIME', value: ({ at }) => clockTime(at) },
  { title: 'WHAT', value: ({ what }) => what },
  { title: 'VERB', value: ({ method }) => method, drop: 5 },
  { title: 'PATH', value: ({ route }) => route, min: 25, drop: 1 },
  { title: 'HTTP', value: ({ status }) => (status === null ? '…' : String(status)), drop: 6 },
  { title: 'TOOK', value: ({ ms }) => (ms === null ? '…' : `${count(ms)} ms`), align: 'right', drop: 2 },
  { title: 'WHO', value: ({ who }) => who || '—', min: 8, drop: 3 },
  { title: 'PRICE', value: ({ price }) => price, align: 'right', exact: true },
  { title: 'STEPS', value: ({ steps }) => dim(stepsWord(steps)), exact: true, drop: 4 },
]

function stepsWord(steps: number | undefined): string {
  if (steps === undefined) return ''
  return `${count(steps)} ${steps === 1 ? 'step' : 'steps'}`
}
