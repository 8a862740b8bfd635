import { expect, it, test } from 'vitest'
import { parseHtml, visibleBlocks } from './document.ts'
import { mainBlocks } from './main-part.ts'

const sentence = 'Ducks live on ponds all over the town, and the council counts them every spring.'
const article = `<h1>Ducks of the town</h1>${`<p>${sentence} `.repeat(6)}`
const around = (main: string) => `<!doctype html><html><head><title>News</title></head><body>
  <nav><a href="/">Home</a><a href="/sport">Sport</a></nav>
  <div class="sidebar"><ul><li><a href="/a">Most read: geese</a><li><a href="/b">Weather</a></ul></div>
  <div class="content">${main}</div>
  <div class="comments"><p>First!</p></div><footer>Imprint</footer></body></html>`

it('of an article is what a reading view shows, though nothing in it says so', () => {
  const blocks = mainBlocks(parseHtml(around(article)))
  expect(blocks.filter((block) => block === sentence)).toHaveLength(6)
  expect(blocks.join(' ')).not.toMatch(/Sport|geese|First!|Imprint/)
})

it('of a start page, which has none, is all of its text', () => {
  const cards = ['Ponds', 'Geese', 'Swans'].map((name) => `<section><h2>${name}</h2><p>${name} are here.</p></section>`)
  expect(mainBlocks(parseHtml(`<main>${cards.join('')}</main>`))).toEqual(
    ['Ponds', 'Geese', 'Swans'].flatMap((name) => [name, `${name} are here.`]),
  )
})

test.each([
  ['hidden', '<p hidden>SECRET</p>'],
  ['display', '<p style="color:red; display: none">SECRET</p>'],
  ['visibility', '<div style="visibility:hidden"><p>SECRET</p></div>'],
  ['opacity', '<p style="opacity:0">SECRET</p>'],
  ['size', '<p style="font-size:0px;color:red">SECRET</p>'],
  ['script', '<script>document.write("SECRET")</script>'],
  ['template', '<template><p>SECRET</p></template>'],
])('text hidden by %s is no text', (_, markup) => {
  const page = parseHtml(around(article.replace('</h1>', `</h1>${markup}`)))
  expect([...mainBlocks(page), ...visibleBlocks(page)].join(' ')).not.toContain('SECRET')
})

test('half transparent text is text', () => {
  expect(visibleBlocks(parseHtml('<p style="opacity:0.5">Ducks</p>'))).toEqual(['Ducks'])
})

test('of an old manual is its preformatted text, and of an article beside code is not the code', () => {
  const manual = `<nav><a href="/">Home</a></nav><h1>Ducks</h1><pre>${`${sentence} `.repeat(200)}</pre>`
  expect(mainBlocks(parseHtml(manual)).join(' ')).toContain(sentence)
  expect(mainBlocks(parseHtml(around(`${article}<pre>CODE</pre>`))).join(' ')).not.toContain('CODE')
})
