import { invalidField } from '../core/error.ts'

/** http(s) URL without query, fragment or final slash. @throws AppError invalid_request, also for credentials in it */
export function originOf(text: string): string {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw invalidField('url', `"${text}" is not an http address`)
  if (url.username || url.password) throw invalidField('url', 'must not contain credentials')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}
