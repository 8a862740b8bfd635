// Worker thread of `backend.ts`. It holds one search table and handles messages in order.
import { parentPort, workerData } from 'node:worker_threads'
import { AppError } from '../../../../src/core/error.ts'
import { perform, type SearchCall, type SearchReply } from './backend.ts'
import { reopenFile } from './file.ts'
import { openIndex } from './index.ts'

// Never create a missing file here, because searches would find an empty catalog.
const index = openIndex(String(workerData), reopenFile)

function answerTo({ id, op, args }: SearchCall): SearchReply {
  try {
    return { id, value: perform(index, op, args) }
  } catch (error) {
    return {
      id,
      failure: error instanceof Error ? error.message : String(error),
      unavailable: error instanceof AppError && error.code === 'unavailable',
    }
  }
}

parentPort?.on('message', (ask: SearchCall) => {
  parentPort?.postMessage(answerTo(ask))
  // Once its message port is closed, the worker thread exits by itself.
  if (ask.op === 'close') parentPort?.close()
})
