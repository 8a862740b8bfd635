import { useMemo } from 'react'
import { participantFields } from '../../api/endpoint/list-fields.ts'
import { clip, shortAddress, shortSpan } from '../../text/text.ts'
import { zonedTime } from '../../text/time.ts'
import { jsonLines } from '../parts/json-lines.ts'
import { bad, blank, dim, good, type Line, type Piece, rule, spread, strong, warn } from '../parts/line.ts'
import type { ScreenColumn } from '../parts/table.ts'
import { businessNow, useClock } from '../shell/clock.ts'
import type { DialogSpec } from '../shell/dialog.ts'
import { findingOf, listTable, sortActions, sortedWords, titlesOf, typedWords, useListQuery } from '../shell/finding.ts'
import { askAll, meant } from '../shell/marks.ts'
import { staleness, waitingLines } from '../shell/notice.ts'
import { openLines, pageActions, paneActions, type ShownList, sliceWords } from '../shell/pane.ts'
import { SLOW_EVERY_MS } from '../shell/queries.ts'
import { type Query, useQuery } from '../shell/query.ts'
import type { Host, Screen, ScreenArea, View } from '../shell/screen.ts'
import { chosenIndex } from '../shell/ui.ts'
import { suspendDialog, tierDialog } from './dialogs.ts'
import { fetchPeople, PEOPLE_PAGE, type People, type PersonFacts } from './facts.ts'

/** A hook: everybody, with tier, balance and standing. */
export function usePeople(host: Host, view: View): ReturnType<Screen['use']> {
  const { ui, area } = view
  const page = ui.pages.people ?? 0
  const finding = findingOf(ui, 'people', participantFields)
  const which = { page, asked: useListQuery(host, finding, participantFields) }
  const name = `people ${JSON.stringify(which)}`
  const listed = useQuery(fetchPeople(host.link, which), { name, every: SLOW_EVERY_MS })
  const people = listed.value?.people ?? []
  const ids = people.map(({ id }) => id)
  const chosen = chosenIndex(ui, ids)
  const shown = ui.pane.open === 'beside' ? undefined : people[chosen]
  const raw = useMemo(() => (shown === undefined ? undefined : jsonLines(shown.raw)), [shown])
  const now = businessNow(useClock(host), view.now)
  const onChosen = (specOf: (host: Host, person: PersonFacts) => DialogSpec) => () => {
    const rows = meant(host.ui.get(), people, ({ id }) => id)
    askAll(
      host,
      rows.map((person) => specOf(host, person)),
    )
  }
  const { open: _open, ...moving } = paneActions(host, raw, area)
  return {
    ids,
    problem: finding.problem,
    columns: titlesOf(columnsOf(now)),
    draw: (at) => peopleLines({ listed, people, chosen, open: raw, now, view }, at),
    actions: {
      ...pageActions(host, listed.value?.total ?? 0, PEOPLE_PAGE),
      ...moving,
      ...sortActions(host, 'people', participantFields),
      edit: onChosen(tierDialog),
      pauseCron: onChosen(suspendDialog),
    },
  }
}

type Model = ShownList & {
  readonly listed: Query<People>
  readonly people: readonly PersonFacts[]
}

function peopleLines(model: Model, area: ScreenArea): Line[] {
  const { listed, people, chosen, open, now, view } = model
  const { width, height } = area
  const person = people[chosen]
  if (open !== undefined && person) {
    return openLines(open, { title: `People › ${person.id}`, scroll: view.ui.pane.scroll }, area)
  }
  const head = [rule(width, 'People'), statusLine(model, width)]
  if (listed.value === undefined) return [...head, ...waitingLines(listed, width)]
  if (person === undefined) {
    return [...head, blank, [dim(view.ui.filters.people ? ' nobody matches: esc clears it' : ' nobody is here yet')]]
  }
  const drawer = drawerLines(person, width)
  const room = Math.max(1, height - head.length - 1 - drawer.length)
  const table = listTable(view.ui, {
    columns: columnsOf(now),
    rows: people,
    idOf: ({ id }) => id,
    chosen,
    width,
    height: Math.min(people.length, room),
  })
  return [...head, table.head, ...table.body, ...drawer]
}

function statusLine({ listed, people, view: { ui, now } }: Model, width: number): Line {
  const typed = typedWords(ui, 'people') || dim(' the newest first')
  const stale = staleness(listed, now)
  const slice = { offset: (ui.pages.people ?? 0) * PEOPLE_PAGE, rows: people.length, total: listed.value?.total ?? 0 }
  return spread(
    width,
    [typed],
    [...sortedWords(ui, 'people'), ...(stale ? [warn(`! ${stale}  `)] : []), sliceWords(slice), ' '],
  )
}

const tierWords: Readonly<Record<PersonFacts['tier'], Piece>> = {
  unverified: dim('– nobody checked'),
  email_verified: good('✓ e-mail'),
  identity_verified: good('✓ identity'),
}

function columnsOf(now: number | undefined): readonly ScreenColumn<PersonFacts>[] {
  return [
    { title: 'NAME', value: ({ name, wallet }) => name || dim(shortAddress(wallet)), min: 12 },
    { title: 'ROLE', value: ({ type }) => type, drop: 2 },
    { title: 'TIER', value: ({ tier }) => tierWords[tier], drop: 1 },
    { title: 'STANDING', value: ({ suspendedAt }) => (suspendedAt === undefined ? dim('● open') : bad('‖ suspended')) },
    { title: 'BALANCE', value: ({ available }) => strong(available), align: 'right', exact: true },
    { title: 'HELD', value: ({ held }) => held, align: 'right', exact: true, drop: 5 },
    { title: 'AGE', value: ({ createdAt }) => ageOf(createdAt, now), align: 'right', drop: 4 },
    { title: 'PARTICIPANT', value: ({ id }) => id, exact: true, drop: 3 },
  ]
}

function ageOf(at: number | undefined, now: number | undefined): string {
  return at === undefined || now === undefined ? '—' : shortSpan(Math.max(0, now - at))
}

function drawerLines(person: PersonFacts, width: number): Line[] {
  const { id, wallet, referredBy, suspendedAt, createdAt } = person
  const since: Line = suspendedAt === undefined ? [] : [bad(' suspended  '), `since ${zonedTime(suspendedAt)}`]
  return [
    rule(width, id, [dim('e json')]),
    [dim(' wallet     '), wallet],
    [
      dim(' came       '),
      createdAt === undefined ? '—' : zonedTime(createdAt),
      dim(referredBy === '' ? '' : clip(`  by ${referredBy}`, width)),
    ],
    ...(since.length === 0 ? [] : [since]),
  ]
}
