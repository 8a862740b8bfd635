import { invalidField } from '../core/error.ts'

/** Normalises an http(s) URL. @throws AppError `invalid_request` for an invalid one, or one with credentials */
export function originOf(text: string): string {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw invalidField('url', `"${text}" is not an http address`)
  if (url.username || url.password) throw invalidField('url', 'must not contain credentials')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}
