import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import { endpoints } from '../../client/endpoints.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { count, padEnd, shortAddress, wrap } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { accent, bad, dim, good, type Line, type Piece, rule, strong, warn } from '../parts/line.ts'
import { joinedPanels, sideOf } from '../parts/panels.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { listHead, listTable, titlesOf, viewWords } from '../shell/finding.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { ask } from '../shell/queries.ts'
import type { Query } from '../shell/query.ts'
import { text } from '../shell/read.ts'
import type { ScreenArea, View } from '../shell/screen.ts'

const REQUESTS = 500
const BROKEN_FROM = 400
const WALLET = /^0x[0-9a-fA-F]{40}$/

type Answered = WireAnswer<Api['listRequests']>['requests'][number]
type Step = WireAnswer<Api['getRequestStory']>['steps'][number]

/** A request as the marketplace remembers it: no header, no body. Texts are fit for a terminal. */
export type AskedFacts = Pick<Answered, 'id' | 'status' | 'ms'> & {
  readonly at: number
  readonly method: string
  readonly path: string
  /** As the contract has it, `/v1/jobs/:id`: an id is whole in the story, and nowhere in part. */
  readonly route: string
  readonly who: string
  readonly price: string
  readonly code: string
  /** That it made or was about; empty for none. */
  readonly jobId: string
}

/** Newest first. */
export const fetchRequests =
  (link: Link, isWanted: boolean) =>
  async (signal: AbortSignal): Promise<Outcome<readonly AskedFacts[]>> => {
    if (!isWanted) return { ok: true, value: [] }
    const asked = { query: { limit: String(REQUESTS) }, signal }
    return ask(link, { name: 'listRequests', asked }, ({ requests }) =>
      requests.filter(isMarket).map(readRequest).toReversed(),
    )
  }

/** What the operator, and this cockpit itself, looks at is not what anybody comes to see here. */
function isMarket({ method, path, status }: Answered): boolean {
  const isLook = method === 'GET' && (path.startsWith('/dashboard/') || path === '/health')
  return !isLook || (status ?? 0) >= BROKEN_FROM
}

const routes = new Map<string, string>(Object.entries(endpoints).map(([name, [, path]]) => [name, path]))

function readRequest(request: Answered): AskedFacts {
  const { id, at, method, path, endpoint, status, ms, caller, name, price, code } = request
  const who = text(name) || text(caller)
  return {
    id: text(id),
    at: Date.parse(at),
    method: text(method),
    path: text(path),
    route: text(routes.get(endpoint ?? '') ?? path),
    status,
    ms,
    who: WALLET.test(who) ? shortAddress(who) : who,
    price: price === null ? '' : `$${price}`,
    code: text(code),
    jobId: text(request.job_id),
  }
}

export type Story = { readonly id: string; readonly steps: readonly Step[]; readonly lost: string }

/** All that followed from a request; undefined for none. */
export const fetchStory =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<Story | undefined>> => {
    if (id === '') return { ok: true, value: undefined }
    const asked = { params: { id }, signal }
    return ask(link, { name: 'getRequestStory', asked }, ({ steps, lost }) => ({ id, steps, lost: text(lost) }))
  }

type Model = {
  readonly requests: Query<readonly AskedFacts[]>
  readonly rows: readonly AskedFacts[]
  readonly chosen: number
  readonly story: Story | undefined
  readonly view: View
}

const DRAWER_SHARE = 0.5

/** Requests with the story of the chosen one: beside them where there is room, else below. */
export function requestLines(model: Model, area: ScreenArea): Line[] {
  const { requests, rows, chosen, story, view } = model
  const { width, height } = area
  const side = sideOf(width)
  const listed = side === 0 ? width : width - side - 1
  const head = headLines(model, listed)
  if (requests.value === undefined) return [...head, ...waitingLines(requests, width)]
  const row = rows[chosen]
  if (row === undefined) return [...head, [dim(' nobody has asked for anything yet')]]
  const told = (columns: number) => (story?.id === row.id ? storyLines(story, columns) : [[dim(' asking…')]])
  const list = { columns, rows, idOf: ({ id }: AskedFacts) => id, chosen }
  if (side > 0) {
    const table = listTable(view.ui, { ...list, width: listed - 1, height: Math.max(1, height - head.length - 1) })
    const right = [rule(side, row.id), ...told(side)]
    return joinedPanels([...head, table.head, ...table.body], right, { width, split: listed, height })
  }
  const steps = told(width)
  const room = Math.max(1, Math.min(steps.length, Math.floor(height * DRAWER_SHARE) - 1))
  const table = listTable(view.ui, { ...list, width, height: Math.max(1, height - head.length - room - 2) })
  return [...head, table.head, ...table.body, rule(width, row.id), ...steps.slice(0, room)]
}

function headLines({ requests, rows, view: { ui, now, keys } }: Model, width: number): Line[] {
  const all = requests.value?.length ?? 0
  return listHead(width, {
    title: 'Requests',
    place: `${count(rows.length)} of ${count(all)}`,
    stale: staleness(requests, now),
    views: viewWords(['log', 'requests'], 'requests'),
    ui,
    screen: 'logs',
    keys,
    order: 'newest first',
    note: ui.logs.follow ? [accent('●'), dim(' follows   ')] : [],
  })
}

const columns: readonly ScreenColumn<AskedFacts>[] = [
  { title: 'TIME', value: ({ at }) => clockTime(at) },
  { title: 'ANSWER', value: statusWord },
  { title: 'METHOD', value: ({ method }) => method, drop: 3 },
  { title: 'PATH', value: ({ route }) => route, min: 16 },
  { title: 'TOOK', value: ({ ms }) => (ms === null ? '…' : `${count(ms)} ms`), align: 'right', drop: 1 },
  { title: 'WHO', value: ({ who }) => who || '—', min: 8, drop: 2 },
  { title: 'PRICE', value: ({ price }) => price, align: 'right', exact: true },
]

export const requestTitles = titlesOf(columns)

function statusWord({ status, code }: AskedFacts): Piece {
  if (status === null) return accent('● now')
  if (status >= 500) return bad(`✗ ${status} ${code}`.trimEnd())
  if (status === 402) return warn('? 402 asked to pay')
  return status >= 400 ? warn(`! ${status} ${code}`.trimEnd()) : good(`✓ ${status}`)
}

const signs: Readonly<Record<Step['sign'], Piece>> = { done: good('✓'), waits: accent('●'), failed: bad('✗') }
const KIND_COLUMNS = 11

/** A story step by step, what follows from something further in. */
function storyLines({ steps, lost }: Story, width: number): Line[] {
  const lines = steps.flatMap(({ depth, kind, at, sign, amount, sentence }): Line[] => {
    const indent = '  '.repeat(depth)
    const time = at === null ? '--:--:--' : clockTime(Date.parse(at))
    const left: Line = [dim(` ${time} `), indent, signs[sign], ' ', accent(padEnd(kind, KIND_COLUMNS))]
    const money = amount === null ? '' : `$${amount}  `
    const room = Math.max(1, width - indent.length - money.length - KIND_COLUMNS - 14)
    const [first = '', ...rest] = wrap(text(sentence), room)
    const under = ' '.repeat(indent.length + KIND_COLUMNS + 12)
    return [[...left, strong(money), first], ...rest.map((words): Line => [under, words])]
  })
  return lost === '' ? lines : [...lines, [warn(' ! '), lost]]
}
