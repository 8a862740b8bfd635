import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, test } from 'vitest'
import { isAllowed, robotsRules } from './robots-rules.ts'

const verdict = async (text: string, path: string) =>
  isAllowed(await robotsRules(text, 'souk'), new URL(path, 'https://site.test'))
const closedBy = async (pattern: string, path: string) => !(await verdict(`User-agent: *\nDisallow: ${pattern}`, path))

/** RFC 9309, 2.2.2, and what follows from it: a pattern and a path that are the same octets. */
describe('octets are compared however they are written', () => {
  it.each<[string, string]>([
    ['/foo/bar?baz=quz', '/foo/bar?baz=quz'],
    ['/foo/bar?baz=https://foo.bar', '/foo/bar?baz=https%3A%2F%2Ffoo.bar'],
    ['/foo/bar?baz=https%3A%2F%2Ffoo.bar', '/foo/bar?baz=https://foo.bar'],
    ['/foo/bar/ツ', '/foo/bar/%E3%83%84'],
    ['/foo/bar/%E3%83%84', '/foo/bar/ツ'],
    ['/foo/bar/%e3%83%84', '/foo/bar/%E3%83%84'],
    ['/foo/bar/%62%61%7A', '/foo/bar/baz'],
    ['/foo/bar/baz', '/foo/bar/%62%61%7A'],
    ['/a%7eb', '/a~b'],
    ['/a b', '/a%20b'],
    ['/path/file-with-a-%2A.html', '/path/file-with-a-*.html'],
    ['/path/foo-%24', '/path/foo-$'],
    ['/100%', '/100%25'],
    ['/%zz', '/%25zz'],
    ['/😀', '/%F0%9F%98%80'],
  ])('%s closes %s', async (pattern, path) => {
    expect(await closedBy(pattern, path)).toBe(true)
  })

  it.each<[string, string]>([
    ['/Foo', '/foo'],
    ['/path/file-with-a-%2A.html', '/path/file-with-a-x.html'],
    ['/ſ', '/s'],
  ])('%s does not close %s', async (pattern, path) => {
    expect(await closedBy(pattern, path)).toBe(false)
  })
})

describe('special characters', () => {
  it.each<[string, string, boolean]>([
    ['/fish', '/fish', true],
    ['/fish', '/fishheads/yummy.html', true],
    ['/fish', '/catfish', false],
    ['/fish*', '/fish.html', true],
    ['/fish/', '/fish', false],
    ['/*.php', '/folder/filename.php?parameters', true],
    ['/*.php', '/windows.PHP', false],
    ['/*.php$', '/folder/filename.php', true],
    ['/*.php$', '/filename.php?parameters', false],
    ['/fish*.php', '/fishheads/catfish.php?parameters', true],
    ['/a*bc*bc$', '/abcxbcbc', true],
    ['/a*bc*bc$', '/abc', false],
    ['/a**$', '/a', true],
    ['*', '/', true],
    ['/$', '/', true],
    ['/$', '/a', false],
    ['/a$b', '/a$b', true],
    ['/a$b', '/a', false],
    ['nothing', '/nothing', false],
    ['', '/', false],
  ])('%s and %s: closed %s', async (pattern, path, closed) => {
    expect(await closedBy(pattern, path)).toBe(closed)
  })
})

describe('the most octets decide', () => {
  it.each<[string, string, boolean]>([
    ['Allow: /p\nDisallow: /', '/page', true],
    ['Allow: /folder\nDisallow: /folder', '/folder/page', true],
    ['Disallow: /folder\nAllow: /folder', '/folder/page', true],
    ['Allow: /page\nDisallow: /*.htm', '/page.htm', false],
    ['Allow: /page\nDisallow: /*.ph', '/page.php5', true],
    ['Allow: /$\nDisallow: /', '/', true],
    ['Allow: /$\nDisallow: /', '/page.htm', false],
    // Three octets of one letter are no longer than three letters.
    ['Disallow: /%E3%83%84\nAllow: /ツa', '/ツab', true],
    ['Disallow: /aaa\nAllow: /%61%61', '/aaa', false],
    ['Disallow: /', '/robots.txt', true],
  ])('%j and %s: allowed %s', async (rules, path, allowed) => {
    expect(await verdict(`User-agent: souk\n${rules}`, path)).toBe(allowed)
  })
})

describe('groups', () => {
  it.each<[string, string, string, boolean]>([
    ['of one name are one', 'User-agent: souk\nDisallow: /a\n\nUser-agent: SOUK\nDisallow: /b', '/a', false],
    [
      'of one name are one, the second too',
      'User-agent: souk\nDisallow: /a\n\nUser-agent: SOUK\nDisallow: /b',
      '/b',
      false,
    ],
    ['of another name are not ours', 'User-agent: soukbot\nDisallow: /', '/', true],
    ['of a name with a version are ours', 'User-agent: souk/1.0 (crawler)\nDisallow: /', '/', false],
    ['of ours leave out those for all', 'User-agent: *\nDisallow: /\n\nUser-agent: souk\nDisallow: /a', '/b', true],
    ['without a rule allow all', 'User-agent: *\nDisallow: /\n\nUser-agent: souk', '/b', true],
    ['share rules between their names', 'User-agent: other\nUser-agent: souk\nDisallow: /', '/', false],
    ['begin anew after a rule', 'User-agent: souk\nDisallow: /a\nUser-agent: other\nDisallow: /', '/b', true],
    [
      'are not ended by other records',
      'User-agent: souk\nSitemap: https://a.test/\nCrawl-delay: 9\nDisallow: /',
      '/',
      false,
    ],
    ['are not ended by empty lines', 'User-agent: souk\n\n\nDisallow: /', '/', false],
    ['begin with a name', 'Disallow: /\nUser-agent: souk\nDisallow: /a', '/b', true],
    ['have comments', 'User-agent: souk # us\nDisallow: /a#b', '/a', false],
    ['end their lines in each way', '\ufeffUser-Agent : souk\r\ndisallow:/a\rDISALLOW: /b', '/b', false],
  ])('%s', async (...[, text, path, allowed]) => {
    expect(await verdict(text, path)).toBe(allowed)
  })
})

test('a robots.txt of the largest size is read in many turns, and its rules are as many as its lines', async () => {
  const shapes = {
    'one name again and again': ['User-agent: souk\n'.repeat(15_000), `${'Disallow: /a\n'.repeat(20_000)}`, 1],
    'rules of one line each': [
      'User-agent: souk\n',
      Array.from({ length: 40_000 }, (_, i) => `Allow: /${i}\n`).join(''),
      40_000,
    ],
    'one line': ['User-agent: souk\n', `Disallow: /${'('.repeat(500_000)}`, 1],
    wildcards: ['User-agent: souk\n', 'Disallow: /*a*a*a*a*a*b\n'.repeat(20_000), 1],
    'nothing but line ends': ['User-agent: souk\n', '\n'.repeat(500_000), 0],
  } as const
  for (const [name, [head, rest, count]] of Object.entries(shapes)) {
    let turns = 0
    let isOver = false
    const counting = (async () => {
      for (; !isOver; turns += 1) await nextTurn()
    })()
    const rules = await robotsRules(head + rest, 'souk')
    isOver = true
    await counting
    expect([name, rules.size]).toEqual([name, count])
    if (count !== 1 || name === 'wildcards') expect([name, turns > 10]).toEqual([name, true])
  }
})
