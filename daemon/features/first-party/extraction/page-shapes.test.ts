import { afterAll, expect, test } from 'vitest'
import type { Json } from '../../../../src/core/json.ts'
import { openSite } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import { structuredWebExtraction } from './structured-web-extraction.ts'

/* Pages without a word for machines, in the shapes that public sites have: what a reader finds there is found. */

const site = await openSite()
const web = site.web()
afterAll(() => site.close())

const text = { type: 'string' }
const number = { type: 'number' }
const link = { type: 'string', format: 'uri' }
const day = { type: 'string', format: 'date' }
const texts = { type: 'array', items: text }
const listOf = (properties: { [member: string]: Json }) => ({ type: 'array', items: { type: 'object', properties } })

async function extracted(body: string, properties: { [member: string]: Json }) {
  site.pages['/thing'] = { body }
  const input = { url: site.at('/thing'), schema: { type: 'object', properties } }
  const { data, missing } = await delivered({ service: structuredWebExtraction, input, means: { web } })
  return { data, missing }
}

test('a product: its picture is the one with its name, and stock told with a number is stock', async () => {
  const page = `<article><img src="/banner.png" alt="Sale"><img src="/pond.jpg" alt="Pond, small"><h1>Pond, small</h1>
    <p class="price_color">£51.77</p><p class="instock availability">In stock (22 available)</p>
    <table><tr><th>Article number</th><td>a897</td></tr><tr><th>Number of reviews</th><td>3</td></tr></table></article>`
  const wanted = { title: text, price: number, in_stock: { type: 'boolean' }, image: link, sku: text, size: text }
  expect(await extracted(page, wanted)).toEqual({
    data: { title: 'Pond, small', price: 51.77, in_stock: true, image: site.at('/pond.jpg'), sku: 'a897' },
    missing: ['size'],
  })
})

test('a table of facts: labels with brackets, values with the unit that is asked for, a site by its name', async () => {
  const rows = [
    ['Population <small>(2022-12-31)</small>', '569,396'],
    ['Elevation', '11&nbsp;m (36&nbsp;ft)'],
    ['Length', '36 ft'],
    ['Website', '<a href="https://www.pond.example/">bremen.de</a>'],
  ]
  const page = `<h1>Pond</h1><table>${rows.map(([th, td]) => `<tr><th>${th}</th><td>${td}</td></tr>`).join('')}</table>`
  const wanted = { population: { type: 'integer' }, elevation_m: number, length_m: number, website: link }
  expect(await extracted(page, wanted)).toEqual({
    data: { population: 569_396, elevation_m: 11, website: 'https://bremen.de/' },
    missing: ['length_m'],
  })
})

test('cards: lists within them are whole, and what some of them lack is told', async () => {
  const card = (name: string, tags: string, more = '') =>
    `<div class="plan"><h2>${name}</h2><div class="tags">${tags}</div><ul>${more}</ul></div>`
  const page = `<div>${card('Duck', '<a class="tag">wet</a> <a class="tag">small</a>', '<li>3 ponds</li><li>1 lake</li>')}${card('Goose', '<a class="tag">loud</a>')}</div>`
  expect(await extracted(page, { plans: listOf({ name: text, tags: texts, features: texts, price: text }) })).toEqual({
    data: {
      plans: [
        { name: 'Duck', tags: ['wet', 'small'], features: ['3 ponds', '1 lake'] },
        { name: 'Goose', tags: ['loud'] },
      ],
    },
    missing: ['plans[].price', 'plans[].features'],
  })
})

test('an event: when and where are its date and place', async () => {
  const page = '<h1>Duck days</h1><p><b>When:</b> 12 May 2027, 10:00</p><p><b>Where:</b> Town Hall, Bremen</p>'
  expect((await extracted(page, { date: day, location: text })).data).toEqual({
    date: '2027-05-12',
    location: 'Town Hall, Bremen',
  })
})

test('cards without names: the only price of each, below ten, and no sign of a link to a heading', async () => {
  const plan = (name: string, price: string) =>
    `<div class="card"><h4>${name}</h4><div><h1 class="card-title">${price} <small>/ mo</small></h1></div></div>`
  const page = `<h1>Ponds<a class="headerlink" href="#ponds">¶</a></h1><div class="plans">${plan('Free', '$0')}${plan('Pro', '$15')}</div>`
  expect((await extracted(page, { title: text, plans: listOf({ name: text, price: number }) })).data).toEqual({
    title: 'Ponds',
    plans: [
      { name: 'Free', price: 0 },
      { name: 'Pro', price: 15 },
    ],
  })
})

test('a table that repeats its header at the end has no row of it', async () => {
  const head = '<tr><th>Name</th><th>Age</th><th>Pond</th></tr>'
  const page = `<table><thead>${head}</thead><tr><td>Ada</td><td>61</td><td>West</td></tr><tfoot>${head}</tfoot></table>`
  const people = [{ name: 'Ada', age: 61 }]
  expect((await extracted(page, { people: listOf({ name: text, age: number }) })).data).toEqual({ people })
})

test('things for machines: the product is told, not the shop whose page it is on', async () => {
  const [shop, shoe] = [
    { '@type': 'Organization', name: 'Shop of shoes' },
    { '@type': 'Product', name: 'Trail shoe' },
  ]
  const script = (data: unknown) => `<script type="application/ld+json">${JSON.stringify(data)}</script>`
  for (const body of [script({ '@graph': [shop, shoe] }), script(shop) + script(shoe)]) {
    expect((await extracted(body, { name: text })).data).toEqual({ name: 'Trail shoe' })
  }
})

test('the title of a page is no list of its headings', async () => {
  const page = '<title>Ducks</title><meta property="og:title" content="Ducks"><h1>Ducks</h1><h2>Food</h2><h2>Ponds</h2>'
  expect(await extracted(page, { title: text, headings: texts })).toEqual({
    data: { title: 'Ducks' },
    missing: ['headings'],
  })
})
