/** Time style: short local, short UTC, or ISO 8601. */
export type TimeStyle = 'local' | 'utc' | 'iso'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** A time as the API writes it. A time in quotes is part of a document, and is not shortened. */
const ISO_TIME = /(?<!["\w])\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?!["\w])/g

type Shown = { readonly style: TimeStyle; readonly now: number }

/** `13:04:10` today, `22 Nov 13:04` this year, `2025-11-22 13:04` otherwise; Z for UTC. */
export function shortTime(at: number, { style, now }: Shown): string {
  if (style === 'iso') return new Date(at).toISOString()
  const [then, today] = [partsOf(at, style), partsOf(now, style)]
  const [year, month, day, hour, minute, second] = then
  const clock = `${two(hour)}:${two(minute)}`
  const zone = style === 'utc' ? 'Z' : ''
  if (year !== today[0]) return `${year}-${two(month + 1)}-${two(day)} ${clock}${zone}`
  if (month !== today[1] || day !== today[2]) return `${day} ${MONTHS[month] ?? ''} ${clock}${zone}`
  return `${clock}:${two(second)}${zone}`
}

export function withShortTimes(text: string, shown: Shown): string {
  return shown.style === 'iso' ? text : text.replace(ISO_TIME, (time) => shortTime(Date.parse(time), shown))
}

/** Display zone of the process. */
let zone: 'local' | 'utc' = 'utc'

/** Sets the time zone that the functions below use. */
export function showTimesIn(next: 'local' | 'utc'): void {
  zone = next
}

/** `14:03:07` in the display zone. */
export function clockTime(ms: number): string {
  return partsOf(ms, zone).slice(3).map(two).join(':')
}

/** `2026-11-21 14:03` in the display zone. */
export function dateTime(ms: number): string {
  const [year, month, day, hour, minute] = partsOf(ms, zone)
  return `${year}-${two(month + 1)}-${two(day)} ${two(hour)}:${two(minute)}`
}

/** `Nov 20` in the display zone. */
export function monthDay(ms: number): string {
  const [, month, day] = partsOf(ms, zone)
  return `${MONTHS[month] ?? ''} ${day}`
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** The span a week before one that ends at `ms`: `last Wed`, or `last week` for a whole week. */
export function weekAgoWords(spanName: 'hour' | 'day' | 'week', ms: number): string {
  if (spanName === 'week') return 'last week'
  return `last ${WEEKDAYS[zone === 'utc' ? new Date(ms).getUTCDay() : new Date(ms).getDay()] ?? ''}`
}

/** The time if it is today, else the day: `14:03:07` or `Nov 20`. */
export function timeOrDay(ms: number, now: number): string {
  return isSameDay(ms, now) ? clockTime(ms) : monthDay(ms)
}

function isSameDay(one: number, other: number): boolean {
  return dateTime(one).slice(0, DATE_CHARS) === dateTime(other).slice(0, DATE_CHARS)
}

const DATE_CHARS = '2026-11-21'.length

/** `2026-11-21 14:03 UTC+1` of an instant. */
export function zonedTime(ms: number): string {
  return `${dateTime(ms)} ${zoneName(ms)}`
}

/** The time, with its date if it is not today. Dashes if unknown. */
export function timeNear(at: number | undefined, now: number | undefined): string {
  if (at === undefined) return '--:--:--'
  return now !== undefined && isSameDay(at, now) ? clockTime(at) : dateTime(at)
}

/** Display zone at an instant: `UTC+1`, `UTC`. */
export function zoneName(ms: number): string {
  return zone === 'utc' ? 'UTC' : zoneHere(ms)
}

const HOUR_MINUTES = 60

/** This machine's offset from UTC, like `UTC+5:30`. The name of its zone is not shown, since looking it up is slow. */
export function zoneHere(ms: number): string {
  const ahead = -new Date(ms).getTimezoneOffset()
  if (ahead === 0) return 'UTC'
  const [hours, minutes] = [Math.floor(Math.abs(ahead) / HOUR_MINUTES), Math.abs(ahead) % HOUR_MINUTES]
  return `UTC${ahead < 0 ? '-' : '+'}${hours}${minutes === 0 ? '' : `:${two(minutes)}`}`
}

type Parts = readonly [year: number, month: number, day: number, hour: number, minute: number, second: number]

function partsOf(ms: number, style: 'local' | 'utc'): Parts {
  const at = new Date(ms)
  return style === 'utc'
    ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()]
    : [at.getFullYear(), at.getMonth(), at.getDate(), at.getHours(), at.getMinutes(), at.getSeconds()]
}

const two = (count: number) => String(count).padStart(2, '0')
