import { expect, test } from 'vitest'
import { POISON } from '../../fixtures/hostile/poison.ts'
import { safe } from './text.ts'

test('foreign text reaches the screen as one line without control, direction or noncharacters', () => {
  expect(safe(POISON)).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/u)
})
