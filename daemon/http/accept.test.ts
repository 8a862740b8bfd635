import { expect, test } from 'vitest'
import { prefersPage } from './answer.ts'

test.each([
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'what browsers send'],
  ['text/html', 'a page and nothing else'],
  ['TEXT/HTML ; charset=utf-8', 'in capitals, with a parameter'],
  ['text/html, */*', 'a page by name, the rest by the way'],
  ['application/json;q=0.4, text/html;q=0.5', 'a page rather than JSON'],
])('%s asks for a page: %s', (accept) => {
  expect(prefersPage(accept)).toBe(true)
})

test.each<[string | undefined, string]>([
  [undefined, 'nothing'],
  ['', 'nothing at all'],
  ['*/*', 'anything'],
  ['text/*', 'any text'],
  ['application/json', 'JSON'],
  ['application/json, text/html', 'both alike'],
  ['application/json, text/plain, */*', 'what fetch libraries send'],
  ['application/problem+json, text/html;q=0.9', 'problem details first'],
  ['text/html;q=0', 'no page'],
  ['text/html;q=0.1, */*;q=0.9', 'rather anything else'],
  ['text/html;q=2', 'a weight that is none'],
])('%s does not: %s', (accept, _) => {
  expect(prefersPage(accept)).toBe(false)
})
