import { httpUrl } from './loopback.ts'

/** Where alarms go. `shown` names the target without passwords and tokens. */
export type AlarmTarget = { readonly shown: string } & (
  | { readonly kind: 'exec'; readonly command: string }
  | { readonly kind: 'webhook'; readonly url: string }
  | { readonly kind: 'smtp'; readonly url: URL; readonly to: string; readonly from: string }
)

const FORM = /^(exec|webhook):(.+)$/s
/** Separates targets in a setting: a comma or a line break that a target follows, since commands may have commas. */
const BETWEEN = /[,\n]\s*(?=(?:exec|webhook|smtps?):)/

/** Reads a target; undefined if it has no valid form. */
export function readAlarmTarget(text: string): AlarmTarget | undefined {
  const [, kind, rest = ''] = FORM.exec(text) ?? []
  if (kind === 'exec') return { kind, command: rest, shown: `exec:${rest.trim().split(/\s/)[0]}` }
  if (kind === 'webhook') {
    const url = httpUrl(rest)
    return url && !url.username ? { kind, url: rest, shown: `webhook:${url.host}` } : undefined
  }
  const url = URL.parse(text)
  const to = url?.searchParams.get('to') ?? ''
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '' || !to.includes('@')) return undefined
  return { kind: 'smtp', url, to, from: url.searchParams.get('from') ?? to, shown: `smtp:${to}` }
}

/** Splits a setting with several targets. */
export function splitAlarmTargets(text: string): string[] {
  return text.split(BETWEEN).filter((one) => one !== '')
}

const HOURS = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)$/
const MINUTES_AN_HOUR = 60

/** Minutes of the day at which quiet hours, such as `22:00-07:00`, begin and end; undefined if they cannot be read. */
export function readQuietHours(text: string): { readonly from: number; readonly until: number } | undefined {
  const [, ...parts] = HOURS.exec(text) ?? []
  if (parts.length === 0) return undefined
  const [fromHour = 0, fromMinute = 0, untilHour = 0, untilMinute = 0] = parts.map(Number)
  return { from: fromHour * MINUTES_AN_HOUR + fromMinute, until: untilHour * MINUTES_AN_HOUR + untilMinute }
}

/** Whether a local time is within quiet hours. They may pass midnight; equal ends mean no time at all. */
export function isQuietAt(hours: string | undefined, at: Date): boolean {
  const quiet = hours === undefined ? undefined : readQuietHours(hours)
  if (quiet === undefined) return false
  const minute = at.getHours() * MINUTES_AN_HOUR + at.getMinutes()
  const { from, until } = quiet
  return from <= until ? from <= minute && minute < until : from <= minute || minute < until
}
