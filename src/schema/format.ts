import { at } from '../core/record.ts'

const SCHEME = /^[a-z][a-z0-9+.-]*:/i
const NOT_IN_URIS = /[\s<>"{}|\\^`\p{Cc}]/u
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(z|[+-]([01]\d|2[0-3]):?[0-5]\d)$/i
const DOMAIN_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i
const LOCAL_PART = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/
const MAX_EMAIL_CHARS = 254
const DATE_CHARS = 10
const MONTHS = 12

/** An absolute URI (RFC 3986). */
export function isUri(text: string): boolean {
  return SCHEME.test(text) && !NOT_IN_URIS.test(text) && URL.canParse(text)
}

/** RFC 3339 full-date. */
export function isDate(text: string): boolean {
  const match = DATE.exec(text)
  if (!match) return false
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number)
  return month >= 1 && month <= MONTHS && day >= 1 && day <= daysIn(year, month)
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return at(days, month - 1)
}

/** RFC 3339 date-time with an offset. */
export function isDateTime(text: string): boolean {
  const separator = text[DATE_CHARS]
  const joined = separator === 'T' || separator === 't' || separator === ' '
  return joined && isDate(text.slice(0, DATE_CHARS)) && TIME.test(text.slice(DATE_CHARS + 1))
}

/** A plain mail address: unquoted, with a dot in the domain. */
export function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL_CHARS) return false
  const at = text.lastIndexOf('@')
  const local = text.slice(0, Math.max(at, 0))
  const labels = text.slice(at + 1).split('.')
  const dots = local.startsWith('.') || local.endsWith('.') || local.includes('..')
  return LOCAL_PART.test(local) && !dots && labels.length > 1 && labels.every((label) => DOMAIN_LABEL.test(label))
}

/** Formats that are checked, with words for errors. Other formats are annotations. */
export const formats: Record<string, { check: (text: string) => boolean; words: string }> = {
  uri: { check: isUri, words: 'an absolute URI like https://example.com/' },
  date: { check: isDate, words: 'a date like 2025-12-31' },
  'date-time': { check: isDateTime, words: 'a date-time like 2025-12-31T23:59:59Z' },
  email: { check: isEmail, words: 'an e-mail address' },
}
