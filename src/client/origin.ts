import { invalidField } from '../core/error.ts'
import { httpUrl } from '../core/loopback.ts'

/** Normalises an http(s) URL. @throws AppError `invalid_request` for an invalid one, or one with credentials */
export function originOf(text: string): string {
  const url = httpUrl(text)
  if (!url) throw invalidField('url', `"${text}" must be an http or https URL, without an empty port`)
  if (url.username || url.password) throw invalidField('url', 'must not contain credentials')
  return (url.origin + url.pathname).replace(/\/+$/, '')
}
