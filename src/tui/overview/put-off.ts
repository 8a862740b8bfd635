import { tableOf } from '../../core/record.ts'
import { HOUR_MS } from '../../core/time.ts'
import { PUT_OFF_MAX, type PutOff } from '../../model/cockpit-files.ts'
import { attentionKinds } from '../../model/words.ts'
import { shortSpan } from '../../text/text.ts'
import { showToast } from '../shell/ask.ts'
import { byScreenOf, fetchNeeds, type Need, type Needs } from '../shell/needs.ts'
import { createStore, type Query, type StateStore } from '../shell/query.ts'
import type { Host } from '../shell/screen.ts'
import { chosenIndex } from '../shell/ui.ts'

const DAY_HOURS = 24
/** Compared text length. */
const SAID_CHARS = 500

export type PutOffFile = { readonly read: () => readonly PutOff[]; readonly write: (list: readonly PutOff[]) => void }

/** Store of the snoozed items. Every change is saved to the file. */
export function createPutOffs(file: PutOffFile | undefined): StateStore<readonly PutOff[]> {
  const store = createStore<readonly PutOff[]>(file?.read() ?? [])
  return {
    ...store,
    set(next) {
      store.set(next.slice(-PUT_OFF_MAX))
      file?.write(store.get())
    },
  }
}

/** Text of a problem. A snooze ends when this text changes, so the text contains no ages. */
function saidOf({ sentence, who, amount, since, due }: Need): string {
  return `${who} ${amount} ${since ?? ''} ${due ?? ''} ${sentence}`.slice(0, SAID_CHARS)
}

type Seen = { readonly instance: string; readonly now: number }

/** Removes snoozed problems from the list, the counts and the badges. */
export function withoutPutOff(query: Query<Needs>, putOffs: readonly PutOff[], seen: Seen): Query<Needs> {
  const { value } = query
  if (value === undefined) return query
  const hidden = new Set(value.items.filter((need) => isPutOff(need, putOffs, seen)).map(({ id }) => id))
  if (hidden.size === 0) return query
  const items = value.items.filter(({ id }) => !hidden.has(id))
  const away = value.items.filter(({ id }) => hidden.has(id))
  const left = (kind: Need['kind']) => (value.counts[kind] ?? 0) - sumOf(away.filter((one) => one.kind === kind))
  const counts = tableOf(attentionKinds, left)
  const total = value.total - sumOf(away)
  return { ...query, value: { items, counts, total, byScreen: byScreenOf(items, counts), putOff: sumOf(away) } }
}

const sumOf = (needs: readonly Need[]) => needs.reduce((sum, { count }) => sum + count, 0)

function isPutOff(need: Need, putOffs: readonly PutOff[], { instance, now }: Seen): boolean {
  const put = putOffs.find((one) => one.id === need.id && one.instance === instance)
  if (put === undefined) return false
  return put.until === undefined ? put.said === saidOf(need) : now < put.until
}

export type PutOffChoice = { readonly words: string; readonly summary: string; readonly act: () => void }

/** How long an item can be snoozed, and a choice that shows all snoozed ones again. */
export function putOffChoices(host: Host): readonly PutOffChoice[] {
  const { queries, link, refreshMs, putOffs, clock, health } = host
  const told = queries.open<Needs>('needs', fetchNeeds(link), refreshMs).get()
  const seen = { instance: health()?.instanceId ?? '', now: clock.now() }
  const needs = withoutPutOff(told, putOffs.get(), seen).value
  if (needs === undefined) return []
  const ids = needs.items.map(({ id }) => id)
  const ui = host.ui.get()
  // A problem is chosen only while its panel has the focus.
  const need = ui.panel === 'needs' ? needs.items[chosenIndex(ui, ids)] : undefined
  const back = {
    words: `show the ${needs.putOff} snoozed problems`,
    summary: 'list them again now',
    act: () => haveBack(host),
  }
  const later = need === undefined ? [] : laterChoices(host, need)
  return needs.putOff === 0 ? later : [...later, back]
}

function laterChoices(host: Host, need: Need): readonly PutOffChoice[] {
  const of = (words: string, hours?: number): PutOffChoice => ({
    words,
    summary: hours === undefined ? 'listed again when it changes' : `listed again in ${shortSpan(hours * HOUR_MS)}`,
    act() {
      putOff(host, need, hours)
      showToast(host, { text: `snooze ${words}: ${need.sentence}`, tone: 'dim', stays: false })
    },
  })
  return [of('for 1 hour', 1), of('for 1 day', DAY_HOURS), of('until it changes')]
}

function putOff({ putOffs, clock, health }: Host, need: Need, hours: number | undefined): void {
  const now = clock.now()
  const instance = health()?.instanceId ?? ''
  const kept = putOffs.get().filter((one) => one.until === undefined || one.until > now)
  const others = kept.filter((one) => one.id !== need.id || one.instance !== instance)
  const until = hours === undefined ? {} : { until: now + hours * HOUR_MS }
  putOffs.set([...others, { instance, id: need.id, ...until, said: saidOf(need) }])
}

function haveBack({ putOffs, health }: Host): void {
  const instance = health()?.instanceId ?? ''
  putOffs.set(putOffs.get().filter((one) => one.instance !== instance))
}
