import type { api } from '../../src/api/index.ts'
import type { FreeHandler } from '../handler.ts'
import { referencePage } from '../reference-page.ts'

export const getDocs: FreeHandler<typeof api.getDocs> = async () => referencePage()
