import { expect, test } from 'vitest'
import { encodePage } from './handler.ts'
import { html } from './html.ts'

test('everything put into a page is escaped, markup is nested as it is, and nothing shows as nothing', () => {
  const rows = ['<b>', 'a & "b"', "it's"].map((name) => html`<li>${name}</li>`)
  expect(html`<ul title="${'" onclick="x'}">${rows}</ul>${null}${undefined}${html`<hr>`}${3}`.markup).toBe(
    '<ul title="&quot; onclick=&quot;x"><li>&lt;b&gt;</li><li>a &amp; &quot;b&quot;</li><li>it&#39;s</li></ul><hr>3',
  )
})

test('control characters and turned text are replaced', () => {
  expect(html`${'a\u0000b\u009bc\u202ed\n'}`.markup).toBe('a\ufffdb\ufffdc\ufffdd\n')
})

test('a page is kept, framed and sniffed by nobody', () => {
  expect(encodePage(html`<p>${1}</p>`)).toMatchObject({
    body: '<p>1</p>',
    headers: {
      'Cache-Control': 'no-store',
      'Content-Security-Policy': "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'",
      'Content-Type': 'text/html; charset=utf-8',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    },
  })
})
