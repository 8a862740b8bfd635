import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openSite, type Site } from '../../../ports/web/site.testkit.ts'
import { delivered } from '../delivers.testkit.ts'
import type { JsonInput } from '../service/service.ts'
import { apiChangelogActions } from './api-changelog-actions.ts'
import { kindOf } from './change-kinds.ts'

const AT = Date.parse('2026-06-01T12:00:00Z')
let site: Site
beforeAll(async () => {
  site = await openSite()
})
beforeEach(() => site.clear())
afterAll(() => site.close())

const md = (body: string) => ({ headers: { 'content-type': 'text/markdown' }, body })

const changes = [
  ['2026-05-20', 'Removed GET /v1/ponds from the API.', 'removal'],
  ['2026-05-01', 'The field size of POST /v1/ducks is deprecated and will be removed by 2026-06-20.', 'deprecation'],
  ['2026-04-10', 'Breaking: the response of /v1/geese changed.', 'breaking'],
  ['2026-04-01', 'Fixed a typo in the response.', 'fix'],
  ['2026-03-15', 'Added support for swans.', 'addition'],
  ['2025-01-01', 'Removed GET /v1/old.', 'removal'],
] as const
const asMarkdown = changes.map(([date, line]) => `## ${date}\n\n- ${line}\n`).join('\n')
const asHtml = changes
  .map(([date, line]) => `<h2><time datetime="${date}">${date}</time></h2><ul><li>${line}</li></ul>`)
  .join('')
const asAtom = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom">${changes.map(([date, line]) => `<entry><title>Change</title><updated>${date}T00:00:00Z</updated><link href="https://site.test/${date}"/><content type="html">&lt;p&gt;${line}&lt;/p&gt;</content></entry>`).join('')}</feed>`

describe('what a changelog asks for', () => {
  const triage = async (input: JsonInput = {}) =>
    (
      await delivered({
        service: apiChangelogActions,
        input: { source_url: site.at('/log'), ...input },
        means: { web: site.web(), now: () => AT },
      })
    ).api_changelog_actions

  it.each([
    ['markdown', md(`# Changelog\n\n${asMarkdown}`)],
    ['html', { body: asHtml }],
    ['feed', { headers: { 'content-type': 'application/atom+xml' }, body: asAtom }],
  ])('is the same out of %s', async (format, page) => {
    site.pages['/log'] = page
    const made = await triage()
    expect(made).toMatchObject({
      format,
      entries_read: 6,
      entries_in_window: 5,
      ignored: { additions: 1, fixes: 1, out_of_focus: 0 },
    })
    const short = made.actions.map((one: Record<string, unknown>) => [
      one['class'],
      one['urgency'],
      one['deadline'],
      one['endpoints'],
    ])
    expect(short).toEqual([
      ['removal', 'now', null, ['GET /v1/ponds']],
      ['deprecation', 'now', '2026-06-20', ['POST /v1/ducks']],
      ['breaking', 'soon', null, ['/v1/geese']],
    ])
    for (const { evidence } of made.actions) expect(changes.some(([, line]) => line === evidence)).toBe(true)
  })

  it.each([
    '2026-05-02',
    'May 2, 2026',
    '2 May 2026',
    'v1.2.0 (2 May 2026)',
    '[1.2.0] - 2026-05-02',
    'Release of May 2nd, 2026',
  ])('reads the date of an entry that is headed %j', async (heading) => {
    site.pages['/log'] = md(
      `# Log\n\n## ${heading}\n\n- Removed GET /v1/geese.\n\n## 1.1.0\n\n- Removed GET /v1/old.\n`,
    )
    const made = await triage()
    expect(made).toMatchObject({ entries_read: 2, entries_in_window: 1, undated: 1 })
    expect(made.actions).toEqual([expect.objectContaining({ date: '2026-05-02', endpoints: ['GET /v1/geese'] })])
  })

  it.each([
    '# API 2.0 changelog\n\nDate: 2026-06-01',
    '# Changelog (2026-06-01)',
    '# Date: 2026-06-01',
    '---\ntitle: Changelog\ndate: 2026-06-01\n---',
  ])('dates no entry by the day of the page, which stands above as %j', async (head) => {
    site.pages['/log'] = md(`${head}\n\n## 2.0.3\n\n- Removed GET /v1/a.\n\n## 2.0.2\n\n- Removed GET /v1/b.\n`)
    await expect(triage()).rejects.toThrow('The changelog has no dates')
    // What is new may be among the entries without a date.
    site.pages['/log'] = md('# Log\n\n## 2.0.0\n\n- Removed `quack`\n\n## 1.0.0 - 2021-05-02\n\n- Added `quack`\n')
    await expect(triage()).rejects.toThrow('The newest entries (1) have no date')
    site.pages['/log'] = md(`${head}\n\n## 2.0.3\n\n2026-05-02\n\n- Removed GET /v1/a.\n\n## 2.0.2\n\n- More.\n`)
    expect(await triage()).toMatchObject({ entries_read: 2, undated: 1, actions: [{ date: '2026-05-02' }] })
  })

  it('counts both edges of a window, and what is out of focus', async () => {
    site.pages['/log'] = md(asMarkdown)
    expect(await triage({ change_window: '2026-04-10..2026-05-01' })).toMatchObject({ entries_in_window: 2 })
    expect(await triage({ change_window: 'since 2026-05-20' })).toMatchObject({ entries_in_window: 1 })
    expect(await triage({ endpoint_focus: '/v1/geese' })).toMatchObject({
      actions: [{ class: 'breaking' }],
      ignored: { out_of_focus: 2 },
    })
  })

  it.each<[string, string | undefined]>([
    ['Fixed a bug where nothing was removed.', undefined],
    ['Fix: authentication no longer returns 500.', undefined],
    ['Added a filter for removed ducks.', undefined],
    ['New tokens are shown in the console.', undefined],
    ['Removed duplicates in the docs sidebar.', undefined],
    ['Corrected the documentation of rate limits.', undefined],
    ['Fixed a security vulnerability in uploads: update now.', 'security'],
    ['Added a required field `size` to POST /v1/ducks: it is now required.', 'breaking'],
    ['Removed `GET /v1/docs`.', 'removal'],
    ['**Removed** the parameter `page`.', 'removal'],
    ['API keys in the query are no longer accepted.', 'removal'],
    ['Rate limit lowered from 100 to 60 requests per minute.', 'limits'],
  ])('takes %j for what it is', async (line, known) => {
    site.pages['/log'] = md(`# Log\n\n## May 2, 2026\n\n- ${line}\n`)
    const { actions, ignored } = await triage({ change_window: 'since 2026-01-01' })
    expect(actions.map((one: Record<string, unknown>) => one['class'])).toEqual(known ? [known] : [])
    expect(ignored.additions + ignored.fixes).toBe(known ? 0 : 1)
  })

  it.each([
    ['a page without entries', { body: '<p>We like ducks.</p>' }],
    ['a log without days', md('# Log\n\n## 1.1.0\n\n- Removed GET /v1/old.\n')],
  ])('fails, and so costs nothing, for %s', async (_, page) => {
    site.pages['/log'] = page
    await expect(triage()).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it('reads underlined headings, their days, and items that go over lines', async () => {
    const log = `Log\n===\n\n2.0.0 / 2026-05-10\n------------------\n\n* Removed GET /v1/ponds\n\n[2026-05-01] Version 1.9\n-----------\n- The old SDK is deprecated\n  and will be removed on\n  2026-12-24.\n`
    site.pages['/log'] = md(log)
    const { actions, entries_read } = await triage({ change_window: 'since 2026-01-01' })
    expect([entries_read, actions.map((one: Record<string, unknown>) => [one['class'], one['deadline']])]).toEqual([
      2,
      [
        ['removal', null],
        ['deprecation', '2026-12-24'],
      ],
    ])
  })

  it('takes no example code for a change, and no file of a machine for a path', async () => {
    site.pages['/log'] = md(
      '# Log\n\n## 2026-05-02\n\n### Breaking\n\n- Removed /usr/bin/duck. For example:\n\n```\nduck | quack\n```\n',
    )
    const { actions } = await triage()
    expect(actions).toMatchObject([{ class: 'removal', endpoints: [] }])
  })

  it('finds an end of support in a line that begins with chores', () => {
    const line = '**deps-node:** ZMS-267: Bump Deps, Update API Docs, Remove support for node v16 and v18'
    expect(kindOf(line, 'Features')).toBe('removal')
    expect(kindOf('Update API Docs', 'Features')).toBe('fix')
  })

  it('takes the day on which something ends, not the one on which it began', async () => {
    site.pages['/log'] = md(
      '# Log\n\n## 2026-05-02\n\n- GET /v1/a, introduced on 1 May 2020, will be removed on 1 June 2027.\n',
    )
    expect((await triage({ change_window: 'since 2026-01-01' })).actions[0].deadline).toBe('2027-06-01')
  })

  it.each<[string, string, string | undefined]>([
    ['⚠ BREAKING CHANGES', '**client:** the constructor takes an options object', 'breaking'],
    ['⚠️ Removed', 'Old option names.', 'removal'],
    ['Bug Fixes', '**reactivity:** handle effect removal during scope stop', undefined],
    ['🐛 Bug Fixes', 'Redirects no longer strip credentials.', undefined],
    ['Miscellaneous Chores', 'remove the Brewfile of contributors', undefined],
    ['Dependencies', 'Drop `methods`.', undefined],
    ['Features', 'Renamed `send` to `transfer`', 'breaking'],
    ['', 'Dropped support for TLS 1.1.', 'removal'],
    ['', 'We are dropping support for API version 2023-01-01.', 'removal'],
    ['', 'The GET /v1/ponds endpoint is going away on 1 December 2026.', 'removal'],
    ['', 'feat(api)!: take objects', 'breaking'],
    ['', '[Tests] drop the old runner', undefined],
    ['', 'lower default limits to 100kb', 'breaking'],
    ['', 'Invalid values now throw instead of being ignored', 'breaking'],
    ['Notable improvements and fixes', 'Abbreviations are more flexible', undefined],
    ['', '`string replace` no longer prints an error without a group.', undefined],
    ['', 'The list no longer has entries of the folder itself.', 'breaking'],
    ['', 'A superfluous error when setting the path was removed.', undefined],
    ['', 'The prompt works when the current folder is removed.', undefined],
    ['Compatibility Notes', 'Names are now normalized.', 'breaking'],
    ['Deprecations and removed features', '`quack` is now a reserved keyword.', 'breaking'],
    ['Deprecations and removed features', '`-q` is deprecated.', 'deprecation'],
    ['Breaking changes', '`size` can now be left out.', undefined],
    ['Nightly only', 'Remove the `--flock` option.', undefined],
    ['', '[CHANGE] UI: Classic pages removed.', 'breaking'],
    ['', '[ENHANCEMENT] TSDB: Allow overlap. `--allow-overlap` now has no effect.', 'breaking'],
    ['', '[BUGFIX] API: removed `size` was still shown.', undefined],
    ['', 'Starting on **March 6**, ponds will be locked.', 'breaking'],
    ['Scripting improvements', 'Dividing by zero produces an error for every type.', 'breaking'],
    ['Features', '`quack -v` returns an exit status of 127 instead of 1.', 'breaking'],
    ['', 'The shortcut was changed by mistake. This has been corrected.', undefined],
    ['', '`id` is no longer required.', undefined],
    ['', 'Fixed a breaking change in the list of ducks.', undefined],
    ['', 'fix: accidental breaking change of `send`', undefined],
    ['Patch Changes', 'Reverts the breaking change of 2.1', undefined],
    ['', 'This is not a breaking change', undefined],
    ['', 'fix(security): prevent access to the constructor', 'security'],
    ['', 'Deprecated: use of `quack()`', 'deprecation'],
    ['', 'Un-deprecate `quack`.', undefined],
    ['', 'Update from deprecated `duck` to `goose`', undefined],
    ['', 'Default `quiet` to false - the message of the log is shown', 'breaking'],
    ['', 'fix: the order. BREAKING CHANGE: newest first', 'breaking'],
  ])('knows under %j what %j asks for', (section, line, known) => {
    const kind = kindOf(line, section)
    expect(kind === 'fix' || kind === 'addition' ? undefined : kind).toBe(known)
  })

  it.each([
    ['report: remove smooth scrolling', 'removal', undefined],
    ['The pager no longer opens at once.', 'breaking', undefined],
    ['Removed GET /v1/ponds from the API.', 'removal', 'removal'],
    ['Dropped support for Node 10.', 'removal', 'removal'],
  ])('takes %j for less in a log that marks what breaks', (line, unmarked, marked) => {
    expect([kindOf(line, '', false), kindOf(line, '', true)]).toEqual([unmarked, marked])
  })

  it('reads a label for a heading, and marks no change for what older entries say', async () => {
    site.pages['/log'] = md(
      '# Log\n\n## 2026-05-10\n\nBREAKING CHANGES:\n\n- Size is a number\n\n## 2026-05-02\n\n- Removed `quack`\n',
    )
    const { actions } = await triage({ change_window: 'since 2026-05-01' })
    expect(actions.map((one: Record<string, unknown>) => one['class'])).toEqual(['removal', 'breaking'])
  })

  it('reads a title above the day, and a list item of two paragraphs as one change', async () => {
    site.pages['/log'] = md(
      '# Log\n\n## Geese\n\n#### May 4, 2026\n\n- Ducks can swim.\n\n## Ponds\n\n> This entry includes breaking changes\n\n#### May 2, 2026\n\n- `GET /v1/ponds` was removed.\n\n  Use `GET /v1/lakes`, which is now required.\n',
    )
    const { actions } = await triage({ change_window: '2026-05-01..2026-05-03' })
    expect(actions.map((one: Record<string, unknown>) => [one['class'], one['action']])).toEqual([
      ['removal', 'Stop using what was removed: GET /v1/ponds, GET /v1/lakes.'],
    ])
  })

  it('reads a list of days, each with its changes below', async () => {
    site.pages['/log'] = md(
      '# Log\n\n- *2026-05-10*\n  - `duck_quacked` event is now `quack`\n  - Deleting a duck uses its name\n- *2026-05-02*\n  - If a duck does not exist, 404 is returned\n    rather than a 422.\n- *2025-05-02*\n  - Remove all geese.\n',
    )
    const { actions, entries_read } = await triage({ change_window: 'since 2026-05-01' })
    expect(entries_read).toBe(3)
    expect(actions.map((one: Record<string, unknown>) => [one['date'], one['class']])).toEqual([
      ['2026-05-10', 'breaking'],
      ['2026-05-02', 'breaking'],
    ])
  })

  it.each([
    'last year or so',
    '2026-13-01..2026-14-01',
    '2026-02-30..2026-03-01',
    '2026-05-01..2026-04-01',
    'since ever',
  ])('refuses the window %j before payment', (change_window) => {
    const input = { source_url: 'https://site.test/', change_window }
    expect(() => apiChangelogActions.check(input, { web: site.web() })).toThrow(/^change_window: /)
  })
})
