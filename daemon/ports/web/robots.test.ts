import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../src/core/time.ts'
import type { WebFailure } from './error.ts'
import { failureOf, openSite, type Site } from './site.testkit.ts'
import type { Web } from './web.ts'

let site: Site
let web: Web
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => {
  site.clear()
  web = site.web()
})
afterAll(() => site.close())

describe('robots.txt', () => {
  const closed = 'User-agent: souk\nDisallow: /private\nAllow: /private/open$\n\nUser-agent: *\nDisallow: /'

  it.each<[string, string, WebFailure | 'none']>([
    ['opens what it does not name', '/', 'none'],
    ['closes what it names for us', '/private/a', 'robots_refused'],
    ['opens the longer match', '/private/open', 'none'],
  ])('%s: %s', async (_, path, failure) => {
    site.pages['/robots.txt'] = { body: closed }
    site.pages[path] = { body: 'page' }
    expect(await failureOf(web.get(site.at(path)))).toBe(failure)
    expect(site.asked).toHaveLength(failure === 'none' ? 2 : 1)
  })

  it.each<[number, WebFailure | 'none']>([
    [404, 'none'],
    [401, 'none'],
    [403, 'none'],
    [410, 'none'],
    [429, 'robots_refused'],
    [500, 'robots_refused'],
    [503, 'robots_refused'],
  ])('that answers %i: %s', async (status, failure) => {
    site.pages['/robots.txt'] = { status }
    expect(await failureOf(web.get(site.at('/')))).toBe(failure)
  })

  it('that breaks off closes the site, one that goes round in circles does not', async () => {
    site.pages['/robots.txt'] = (req) => req.socket.destroy()
    expect(await failureOf(web.get(site.at('/')))).toBe('robots_refused')
    site.pages['/robots.txt'] = { status: 302, headers: { location: '/robots.txt' } }
    expect(await failureOf(site.web().get(site.at('/')))).toBe('none')
  })

  it('is asked once a day, and soon again where it could not say', async () => {
    let wall = 1_000
    const daily = site.web({ wall: () => wall })
    const asks = () => site.asked.filter((line) => line.endsWith('robots.txt')).length
    await daily.get(site.at('/a'))
    wall += 23 * HOUR_MS
    await Promise.all([daily.get(site.at('/b')), daily.get(site.at('/c'))])
    expect(asks()).toBe(1)
    wall += HOUR_MS
    site.pages['/robots.txt'] = { status: 500 }
    expect(await failureOf(daily.get(site.at('/d')))).toBe('robots_refused')
    wall += HOUR_MS / 2
    delete site.pages['/robots.txt']
    expect(await failureOf(daily.get(site.at('/d')))).toBe('none')
    expect(asks()).toBe(3)
  })

  it('is read up to 500 KB', async () => {
    const filler = `# ${'x'.repeat(98)}\n`.repeat(5_120)
    site.pages['/robots.txt'] = { body: `User-agent: *\nDisallow: /early\n${filler}Disallow: /late\n` }
    expect(await failureOf(web.get(site.at('/early')))).toBe('robots_refused')
    expect(await failureOf(web.get(site.at('/late')))).toBe('none')
  })

  it('whose patterns would take too long to match closes the site', async () => {
    site.pages['/robots.txt'] = {
      body: `User-agent: *\n${Array.from({ length: 400 }, (_, i) => `Allow: /*${'a'.repeat(990)}${i}\n`).join('')}`,
    }
    expect(await failureOf(web.get(site.at(`/${'a'.repeat(1_900)}`)))).toBe('robots_refused')
    expect(await failureOf(web.get(site.at('/a')))).toBe('none')
  })
})
