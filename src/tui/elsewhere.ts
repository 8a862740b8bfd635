import { useEffect, useState } from 'react'
import type { Link, LinkClock, Outcome, Problem } from '../client/link.ts'
import { count } from '../text/text.ts'
import {
  bad,
  dim,
  good,
  grounded,
  type Line,
  type Piece,
  type ScreenColumn,
  strong,
  tableLines,
  warn,
} from './parts/line.ts'
import { shownMoney } from './parts/river.ts'
import { ask, SLOW_EVERY_MS } from './shell/queries.ts'
import { type Fetch, type Query, unasked } from './shell/query.ts'
import type { Host } from './shell/screen.ts'
import type { Picker } from './shell/ui.ts'

/* All marketplaces on one card: each is asked by itself, so that one without an answer holds up no other. */

/** How long a marketplace may take to answer. */
const ANSWER_MS = 3_000
/** Marketplaces that are asked. Further ones are only listed. */
const ASKED_MAX = 20

type PlaceFacts = {
  readonly paused: boolean
  /** Undefined without the admin credential. */
  readonly problems: number | undefined
  /** Like `12.50`; undefined without the admin credential. */
  readonly paidIn: string | undefined
  readonly tookMs: number
}

const fetchPlace =
  (link: Link, clock: LinkClock): Fetch<PlaceFacts> =>
  async (signal) => {
    const late = new AbortController()
    const asked = { signal: AbortSignal.any([signal, late.signal]) }
    const begun = clock.now()
    const facts = Promise.all([
      ask(link, { name: 'getHealth', asked }, ({ paused }) => ({ paused, tookMs: clock.now() - begun })),
      ask(link, { name: 'getAttention', asked }, ({ total }) => total),
      ask(link, { name: 'getRiver', asked }, ({ paid_in: paidIn }) => paidIn),
    ])
    const silent = Promise.withResolvers<undefined>()
    const forget = clock.later(ANSWER_MS, () => silent.resolve(undefined))
    const told = await Promise.race([facts, silent.promise])
    forget()
    late.abort()
    if (told === undefined) return noAnswer
    const [health, problems, paidIn] = told
    if (!health.ok) return health
    const or = <T>(found: Outcome<T>) => (found.ok ? found.value : undefined)
    return { ok: true, value: { ...health.value, problems: or(problems), paidIn: or(paidIn) } }
  }

const noAnswer = {
  ok: false,
  problem: { kind: 'failed', sentence: 'no answer', facts: [], next: [] },
} as const satisfies Outcome<never>

const queryOf = ({ queries, clock }: Host, link: Link) =>
  queries.open(`place ${link.place.name}`, fetchPlace(link, clock), SLOW_EVERY_MS)

/** Whether the palette lists marketplaces. */
export const listsPlaces = (picker: Picker | undefined) => picker?.kind === 'palette' && picker.text.startsWith('@')

/** The other marketplaces with their links, then the shown one, which has no name here. */
function linksOf({ link, elsewhere }: Host): readonly Pick<Row, 'name' | 'link'>[] {
  if (elsewhere === undefined) return []
  const others = elsewhere.names().map((name, i) => ({ name, link: i < ASKED_MAX ? elsewhere.link(name) : undefined }))
  return [...others, { name: undefined, link }]
}

/** A hook that asks all marketplaces as long as they are listed. */
export function usePlaces(host: Host): void {
  const [, setTimes] = useState(0)
  const isListed = listsPlaces(host.ui.get().picker)
  useEffect(() => {
    if (!isListed) return
    const told = () => setTimes((times) => times + 1)
    const ends = linksOf(host).flatMap(({ link }) => (link === undefined ? [] : [queryOf(host, link).watch(told)]))
    return () => {
      for (const end of ends) end()
    }
  }, [host, isListed])
}

type Row = {
  /** Undefined for the shown marketplace. */
  readonly name: string | undefined
  readonly words: string
  /** Undefined if it is not asked. */
  readonly link: Link | undefined
  readonly told: Query<PlaceFacts>
}

const columns: readonly ScreenColumn<Row>[] = [
  { title: '', value: ({ words }) => strong(words), min: 12 },
  { title: '', value: ({ link }) => (link?.place.guarded ? warn('remote') : ''), exact: true },
  { title: '', value: stateOf, exact: true },
  { title: '', value: problemsOf, exact: true },
  { title: '', value: ({ told }) => moneyOf(told), align: 'right', exact: true, drop: 1 },
  { title: '', value: ({ told }) => dim(tookOf(told)), align: 'right', exact: true, drop: 2 },
]

function stateOf({ link, told: { value, problem } }: Row): Piece {
  if (problem !== undefined) return problem === noAnswer.problem ? warn('! no answer') : bad(failures[problem.kind])
  if (value === undefined) return dim(link === undefined ? '' : '○ asking')
  return value.paused ? warn('‖ paused') : good('● trading')
}

const failures: Readonly<Record<Problem['kind'], string>> = {
  gone: '✗ unreachable',
  starting: '○ starting',
  denied: '✗ refused',
  absent: '✗ no souk',
  failed: '✗ unreadable',
}

function problemsOf({ told }: Row): Piece {
  const many = answered(told)?.problems
  if (many === undefined) return ''
  return many === 0 ? good('✓ no problems') : warn(`! ${count(many)} problem${many === 1 ? '' : 's'}`)
}

function moneyOf(told: Query<PlaceFacts>): Piece {
  const paidIn = answered(told)?.paidIn
  return paidIn === undefined ? '' : strong(`${shownMoney(paidIn)} today`)
}

function tookOf(told: Query<PlaceFacts>): string {
  const facts = answered(told)
  return facts === undefined ? '' : `${count(facts.tookMs)} ms`
}

/** Figures of a marketplace that no longer answers are not shown. */
const answered = ({ value, problem }: Query<PlaceFacts>) => (problem === undefined ? value : undefined)

/**
 * The rows of the card: state, open problems, money paid in today and latency. Remotes are tinted.
 * @param begin - how the names of the others begin; the shown marketplace is listed last, if all are
 */
export function placeRows(host: Host, begin: string) {
  const rows = linksOf(host).map(({ name, link }): Row => {
    const told = link === undefined ? unasked : queryOf(host, link).get()
    return { name, words: name === undefined ? `${host.link.place.name}, here` : `@${name}`, link, told }
  })
  const shown = rows.filter(({ name }) => (name === undefined ? begin === '' : name.startsWith(begin)))
  const lineAt = (at: number, width: number): Line => {
    const line = tableLines({ columns, rows: shown, chosen: -1, width, height: shown.length }).body[at] ?? []
    return shown[at]?.link?.place.guarded ? grounded(line, 'remote') : line
  }
  return shown.map(({ name, words }, at) => ({ name, words, line: (width: number) => lineAt(at, width) }))
}
