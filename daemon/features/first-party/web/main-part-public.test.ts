import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readability } from '@mozilla/readability'
import { afterAll, expect, it } from 'vitest'
import { told } from '../../../../fixtures/evaluation/figure.ts'
import { load, OUTSIDE } from '../../../../fixtures/outside/load.ts'
import { openSite } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import { websiteResearchContext } from '../docs/website-research-context.ts'
import { structuredWebExtraction } from '../extraction/structured-web-extraction.ts'
import { wordsOf } from '../service/english.ts'
import { parseHtml } from './document.ts'
import { mainBlocks } from './main-part.ts'

// @deep reads the pages of a public site, and lets a browser's reading view in jsdom read them, too

/* The site of mcporter, as its package brings it: what is the main part of each page its markup says. */

const SITE = join(OUTSIDE, 'mcporter/dist/docs-site')
const pages = readdirSync(SITE)
  .filter((name) => name.endsWith('.html') && name !== 'index.html')
  .map((name) => ({ name, html: readFileSync(join(SITE, name), 'utf8') }))

const site = await openSite()
afterAll(() => site.close())
const means = { web: site.web(), now: () => 0 }

type Document = { querySelector(selector: string): { textContent: string } | null }
const { JSDOM } = await load('jsdom')
const documentOf = (html: string): Document => new JSDOM(html, { url: 'https://site.test/' }).window.document

/** Harmonic mean of how many words of one text another has, and how many of its own are among them. */
function likeness(given: string, wanted: string): number {
  const left = new Map<string, number>()
  for (const word of wordsOf(wanted)) left.set(word, (left.get(word) ?? 0) + 1)
  let both = 0
  for (const word of wordsOf(given)) {
    const count = left.get(word) ?? 0
    if (count > 0) both += 1
    left.set(word, count - 1)
  }
  return (2 * both) / (wordsOf(given).length + wordsOf(wanted).length)
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

it('the main part of public pages is found, nearly as well as by the reading view of a browser', () => {
  expect(pages.length).toBeGreaterThan(25)
  const each = pages.map(({ html }) => {
    const wanted = documentOf(html).querySelector('article.doc')?.textContent ?? ''
    const view = new Readability(documentOf(html) as never).parse()?.textContent ?? ''
    const whole = documentOf(html).querySelector('body')?.textContent ?? ''
    const ours = mainBlocks(parseHtml(html)).join('\n')
    return { ours: likeness(ours, wanted), theirs: likeness(view, wanted), whole: likeness(whole, wanted) }
  })
  const figures = {
    pages: pages.length,
    ours: mean(each.map(({ ours }) => ours)),
    'the reading view': mean(each.map(({ theirs }) => theirs)),
    'the whole page': mean(each.map(({ whole }) => whole)),
  }
  told('main part, likeness to what the markup says', figures)
  expect(figures.ours).toBeGreaterThanOrEqual(0.92)
  expect(figures.ours - figures['the whole page']).toBeGreaterThan(0.3)
})

const text = { type: 'string' }
const schema = {
  type: 'object',
  properties: { title: text, description: text, image: { type: 'string', format: 'uri' } },
}

it('members asked of public pages are given as the pages say them', async () => {
  const wrong: string[] = []
  let asked = 0
  for (const { name, html } of pages) {
    site.pages['/page'] = { body: html }
    const input = { url: site.at('/page'), schema }
    const { data } = await delivered({ service: structuredWebExtraction, input, means })
    const page = new JSDOM(html).window.document
    const meta = (property: string) => page.querySelector(`meta[property="og:${property}"]`).getAttribute('content')
    const title = [meta('title'), page.querySelector('h1').textContent]
    const isRight = {
      title: title.includes(data.title),
      description: data.description === meta('description'),
      image: data.image === meta('image'),
    }
    for (const [member, is] of Object.entries(isRight)) {
      asked += 1
      if (!is) wrong.push(`${name} ${member}`)
    }
  }
  const share = 1 - wrong.length / asked
  told('structured_web_extraction, members of public pages', { pages: pages.length, asked, share })
  expect(share, wrong.join(', ')).toBeGreaterThanOrEqual(0.95)
})

it('finds facts of a public site that its pages contain', async () => {
  for (const name of readdirSync(SITE).filter((each) => each.endsWith('.html')))
    site.pages[name === 'index.html' ? '/' : `/${name}`] = { body: readFileSync(join(SITE, name), 'utf8') }
  const { dossier, agent_context_markdown } = await delivered({
    service: websiteResearchContext,
    input: { url: site.at('/') },
    means,
  })
  const words = (value: string) => value.replace(/\s+/g, '')
  const all = words(
    readdirSync(SITE)
      .filter((each) => each.endsWith('.html'))
      .map((name) => documentOf(readFileSync(join(SITE, name), 'utf8')).querySelector('html')?.textContent ?? '')
      .join(' '),
  )
  type Digest = { readonly summary: readonly string[]; readonly headings: readonly string[] }
  const said = dossier.pages.flatMap(({ summary, headings }: Digest) => [...summary, ...headings])
  const stands = said.filter((one: string) => all.includes(words(one).replace(/…$/, '')))
  told('website_research_context, sentences and headings of a public site', {
    pages: dossier.pages.length,
    said: said.length,
    'of them on its pages': stands.length / said.length,
  })
  expect(dossier).toMatchObject({ name: expect.stringMatching(/mcporter/i), language: 'en' })
  expect(dossier.description).toMatch(/Model Context Protocol/)
  expect(dossier.pages).toHaveLength(3)
  expect(agent_context_markdown.length).toBeGreaterThan(1_000)
  expect(said.length).toBeGreaterThan(10)
  expect(stands.length / said.length).toBeGreaterThanOrEqual(0.95)
  expect(agent_context_markdown).not.toMatch(/localStorage|matchMedia/)
})
