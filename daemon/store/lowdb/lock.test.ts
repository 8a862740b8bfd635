import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { account, seed } from '../conformance/world.testkit.ts'
import { StoreLocked } from '../errors.ts'
import { repairStore } from './repair.ts'
import { cleanUp, contents, openTemp, options, tempDir } from './temp.testkit.ts'
import { verifyStore } from './verify.ts'

cleanUp()

const taker = `
  import { takeLock } from ${JSON.stringify(new URL('lock.ts', import.meta.url).href)}
  try { takeLock(process.argv[1]); console.log('taken') } catch (error) { console.log(error.name) }
`

/** What another process is told when it tries to take the lock, and whether it then keeps it. */
async function elsewhere(dir: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', taker, dir], {
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
