import { describe, expect, test } from 'vitest'
import { explain } from './failure.ts'

/* What the machine refuses is told by what it is about and what to do, never by the words of the system. */

const refusal = (members: object) => Object.assign(new Error('raw words'), { path: '/data/souk', ...members })

describe('a refusal of the system', () => {
  test.each([
    [{ code: 'ENOSPC' }, 'The disk is full: /data/souk cannot be written.'],
    [{ code: 'EROFS' }, '/data/souk is read-only.'],
    [{ code: 'EACCES' }, 'No permission for /data/souk: check its owner and permissions.'],
    [{ code: 'ENOTDIR' }, '/data/souk is a file where a folder is needed.'],
    [{ code: 'ENOENT', syscall: 'mkdir' }, 'The folder /data/souk cannot be created.'],
    [{ code: 'ENOENT', syscall: 'open' }, 'There is no /data/souk.'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 13 }, 'The disk is full: /data/souk cannot be written.'],
    [{ code: 'ERR_SQLITE_ERROR', errcode: 1_544 }, '/data/souk is read-only.'],
    [{ code: 'EACCES', syscall: 'listen', port: 80 }, 'You have no permission to use port 80.'],
    [{ code: 'EADDRNOTAVAIL', syscall: 'listen', address: '10.9.8.7' }, '10.9.8.7 is not an address of this machine.'],
  ])('%j is told in a sentence with a way out', (members, sentence) => {
    const told = explain(new Error('outer', { cause: refusal(members) }))
    expect(told.sentence).toBe(sentence)
    expect([...told.facts, ...told.next].join()).not.toBe('')
    expect(told.facts.join()).not.toContain('unexpected error')
  })

  test('what is none of them stays what it is', () => {
    expect(explain(refusal({ code: 'EWHATEVER' })).facts).toEqual([expect.stringContaining('unexpected error')])
  })
})
