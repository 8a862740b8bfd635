import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { leftoverPrefix, leftoversIn, removeLeftover } from './leftovers.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'souk-left-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('a recording of a daemon that was killed is removed at the next start, and nothing of one that runs', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  const now = Date.now()
  const before = new Date(now - process.uptime() * 1_000 - 60_000)
  const long = new Date(now - 60 * 60_000)
  const files: [name: string, at: Date][] = [
    [`souk-audio-${pid}-of-a-killed-one`, new Date(now)],
    [`${leftoverPrefix('audio')}of-this-one`, new Date(now)],
    [`${leftoverPrefix('audio')}of-one-with-the-same-number`, before],
    [`souk-audio-${process.ppid}-of-one-that-runs`, new Date(now)],
    ['souk-audio-of-an-older-build', long],
    ['souk-browser-of-another-kind', long],
  ]
  for (const [name, at] of files) {
    await writeFile(join(folder, name), 'x')
    await utimes(join(folder, name), at, at)
  }
  const owners = [process.getuid?.()]
  for (const left of await leftoversIn({ folder, kind: 'audio', now, owners })) await removeLeftover(left)
  expect((await readdir(folder)).toSorted()).toEqual([files[1], files[3], files[5]].map((one) => one?.[0]).toSorted())
  expect(await leftoversIn({ folder, kind: 'audio', now, owners: [] })).toEqual([])
})
