import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { account, seed } from '../conformance/world.testkit.ts'
import { StoreLocked } from '../errors.ts'
import { takeNamedLock } from './lock.ts'
import { repairStore } from './repair.ts'
import { cleanUp, contents, openTemp, options, tempDir } from './temp.testkit.ts'
import { verifyStore } from './verify.ts'

cleanUp()

const lockFile = JSON.stringify(new URL('lock.ts', import.meta.url).href)
const taker = `
  import { takeLock } from ${lockFile}
  try { takeLock(process.argv[1]); console.log('taken') } catch (error) { console.log(error.name) }
`
const namedTaker = `
  import { takeNamedLock } from ${lockFile}
  try { takeNamedLock(process.argv[1], 'key'); console.log('taken') } catch (error) { console.log(error.name) }
`
/** Takes and releases one name again and again; says how often it was alone with it, and how often it was not. */
const rival = `
  import { mkdirSync, rmdirSync } from 'node:fs'
  import { takeNamedLock } from ${lockFile}
  let [alone, shared] = [0, 0]
  const rest = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 20)
  for (let tries = 0; alone < 6 && tries < 20_000; tries += 1) {
    let lock
    try { lock = takeNamedLock(process.argv[1], 'key') } catch { rest(); continue }
    try { mkdirSync(process.argv[1] + '.held'); alone += 1 } catch { shared += 1 }
    rmdirSync(process.argv[1] + '.held')
    lock.release()
    rest()
  }
  console.log(alone, shared)
`

/** What another process says that runs a script over a folder, and exits with whatever it holds. */
async function elsewhere(dir: string, script = taker): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, dir], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  })
  const output: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text))
  await once(child, 'close')
  return output.join('').trim()
}

test('a second open of a directory is refused at once, here and elsewhere', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir)
  await expect(openTemp(dir)).rejects.toThrow(StoreLocked)
  await expect(openTemp(dir)).rejects.toMatchObject({ dir })
  expect(await elsewhere(dir)).toBe('StoreLocked')
  await store.close()
  expect(await elsewhere(dir)).toBe('taken')
  expect(await contents(await openTemp(dir))).toEqual([])
})

test('backup, verification and an attempted repair leave the lock held', async () => {
  const dir = await tempDir()
  const store = await openTemp(dir)
  await seed(store, [account('a')])
  await store.backup(`${await tempDir()}/copy`)
  await verifyStore(options(dir))
  await expect(repairStore({ ...options(dir), newStoreId: () => 'x' })).rejects.toThrow(StoreLocked)
  await store.compact()
  expect(await elsewhere(dir)).toBe('StoreLocked')
  await expect(openTemp(dir)).rejects.toThrow(StoreLocked)
  expect(await elsewhere(dir)).toBe('StoreLocked')
})

test('a store that could not open gives the lock back', async () => {
  const dir = await tempDir()
  const collections = [...options(dir).collections, ...options(dir).collections]
  await expect(openTemp(dir, { collections })).rejects.toThrow('two collections')
  expect(await elsewhere(dir)).toBe('taken')
})

test('of names that were locked nothing is left, whether they were released or their holder was killed', async () => {
  const folder = join(await tempDir(), 'gas')
  const lock = takeNamedLock(folder, 'key')
  expect(() => takeNamedLock(folder, 'key')).toThrow(StoreLocked)
  expect(await elsewhere(folder, namedTaker)).toBe('StoreLocked')
  lock.release()
  expect(readdirSync(folder)).toEqual(['lock'])
  expect(await elsewhere(folder, namedTaker)).toBe('taken')
  expect(readdirSync(folder)).toEqual(['key', 'lock'])
  takeNamedLock(folder, 'other').release()
  expect(readdirSync(folder)).toEqual(['lock'])
})

test('a name that is taken and released by many is held by one at a time', async () => {
  const folder = join(await tempDir(), 'gas')
  const said = await Promise.all(Array.from({ length: 3 }, () => elsewhere(folder, rival)))
  expect(said).toEqual(['6 0', '6 0', '6 0'])
})
