import { expect, it } from 'vitest'
import { judgeHeaders } from './security-headers.ts'

const csp = (policy: string) => ({ 'content-security-policy': policy })

it.each<[Record<string, string>, string, string]>([
  [csp('default-src * data:'), 'content-security-policy', 'allows scripts from every site'],
  [csp("script-src 'self' https:"), 'content-security-policy', 'allows scripts from every site'],
  [csp("script-src 'nonce-a' 'strict-dynamic' https:"), 'content-security-policy', 'as recommended'],
  [csp("default-src 'self'; img-src *"), 'content-security-policy', 'as recommended'],
  [csp("default-src 'self' 'unsafe-eval'"), 'content-security-policy', "allows 'unsafe-eval'"],
  [csp("frame-ancestors 'none'"), 'x-frame-options', 'frame-ancestors stands in its place'],
  [csp('frame-ancestors *'), 'x-frame-options', 'missing'],
  [{ 'referrer-policy': 'unsafe-url, origin' }, 'referrer-policy', 'as recommended'],
  [{ 'referrer-policy': 'unsafe-url' }, 'referrer-policy', 'sends full URLs to other sites'],
  [{ 'permissions-policy': 'camera=*' }, 'permissions-policy', 'allows a feature to every site'],
  [{ 'permissions-policy': 'camera=()' }, 'permissions-policy', 'as recommended'],
])('of %j, %s: %s', (headers, header, note) => {
  expect(judgeHeaders(headers).find((one) => one.header === header)).toMatchObject({ note })
})
