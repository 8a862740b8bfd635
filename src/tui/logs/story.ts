import { useState } from 'react'
import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Link, Outcome } from '../../client/link.ts'
import { count, padEnd, widthOf, wrap } from '../../text/text.ts'
import { clockTime } from '../../text/time.ts'
import { accent, bad, dim, good, type Line, type Piece, spread, strong, warn } from '../parts/line.ts'
import { useSettled } from '../shell/finding.ts'
import { ask, SLOW_EVERY_MS } from '../shell/queries.ts'
import { useQuery } from '../shell/query.ts'
import { text } from '../shell/read.ts'
import type { Host } from '../shell/screen.ts'

type Step = WireAnswer<Api['getRequestStory']>['steps'][number]
export type Story = { readonly id: string; readonly steps: readonly Step[]; readonly lost: string }

/** Fetches the trace of a request or delivery. Undefined without an id. */
const fetchStory =
  (link: Link, id: string) =>
  async (signal: AbortSignal): Promise<Outcome<Story | undefined>> => {
    if (id === '') return { ok: true, value: undefined }
    const asked = { params: { id }, signal }
    return ask(link, { name: 'getRequestStory', asked }, ({ steps, lost }) => ({ id, steps, lost: text(lost) }))
  }

/** A hook that fetches a row's trace once the cursor rests on the row. Until then, the previous trace stays. */
export function useStory(host: Host, id: string): Story | undefined {
  const wanted = useSettled(id, host.clock)
  const story = useQuery(fetchStory(host.link, wanted), { name: `story ${wanted}`, every: SLOW_EVERY_MS })
  const [last] = useState<{ story?: Story | undefined }>({})
  last.story = story.value ?? last.story
  return id === '' ? undefined : last.story
}

const signs: Readonly<Record<Step['sign'], Piece>> = { done: good('✓'), waits: accent('●'), failed: bad('✗') }
const KIND_COLUMNS = 11
/** From this width, times have milliseconds. */
const FINE_FROM = 56

/** Draws a trace. Steps are indented by depth. */
export function storyLines(story: Story | undefined, width: number): Line[] {
  if (story === undefined) return [[dim(' asking…')]]
  const lines = story.steps.flatMap((step) => stepLines(step, width))
  return story.lost === '' ? lines : [...lines, [warn(' ! '), story.lost]]
}

function stepLines({ depth, kind, at, sign, amount, ms, sentence }: Step, width: number): Line[] {
  const indent = '  '.repeat(depth)
  const time = at === null ? padEnd('--:--:--', timeAt(0, width).length) : timeAt(Date.parse(at), width)
  const left: Line = [dim(` ${time} `), indent, signs[sign], ' ', accent(padEnd(kind, KIND_COLUMNS))]
  const money = amount === null ? '' : `$${amount}  `
  const took = tookWord({ kind, depth, ms })
  const edge = time.length + indent.length + KIND_COLUMNS + 4
  const room = Math.max(1, width - edge - money.length - (took === '' ? 0 : took.length + 3))
  const [first = '', ...rest] = hung(text(sentence), { room, edge, width })
  const head: Line = [...left, strong(money), first]
  const told = took === '' || edge + widthOf(money) + widthOf(first) + took.length + 3 > width
  return [told ? head : spread(width, head, [dim(`${took} `)]), ...rest.map((words): Line => [words])]
}

type Hang = { readonly room: number; readonly edge: number; readonly width: number }

/** Wraps a sentence with hanging indent. The indent shrinks before a long word would be cut. */
function hung(sentence: string, { room, edge, width }: Hang): readonly string[] {
  const [begun = ''] = wrap(sentence, room)
  const first = sentence.startsWith(begun) ? begun : ''
  const left = sentence.slice(first.length).trimStart()
  if (left === '') return [first]
  const longest = Math.max(...left.split(' ').map(widthOf))
  const indent = Math.max(1, Math.min(edge, width - longest - 1))
  return [first, ...wrap(left, width - indent - 1).map((words) => `${' '.repeat(indent)}${words}`)]
}

function timeAt(ms: number, width: number): string {
  if (width < FINE_FROM) return clockTime(ms)
  return `${clockTime(ms)}.${String(ms % 1_000).padStart(3, '0')}`
}

/** Duration of a step. The duration of a whole request is marked `in all`. */
function tookWord({ kind, depth, ms }: Pick<Step, 'kind' | 'depth' | 'ms'>): string {
  if (ms === null) return ''
  return `${count(ms)} ms${kind === 'request' && depth === 0 ? ' in all' : ''}`
}
