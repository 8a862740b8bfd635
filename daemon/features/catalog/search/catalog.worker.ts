// Worker thread of `catalog.ts`. It holds one search table and handles calls in order.
import { workerData } from 'node:worker_threads'
import { serveTasks } from '../../../ports/thread-side.ts'
import { openIndex, perform } from './index.ts'

// Never create a missing file here, because searches would find an empty catalog.
const index = openIndex(String(workerData), true)

serveTasks(({ name, args }) => perform(index, name, args), true)
