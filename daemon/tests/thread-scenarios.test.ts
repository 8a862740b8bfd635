import { describeScenarios } from '../../fixtures/scenarios/run.ts'
import { threadFileScenarios } from '../../fixtures/scenarios/thread-files.ts'
import { threadScenarios } from '../../fixtures/scenarios/threads.ts'

describeScenarios('Threads', threadScenarios)
describeScenarios('Files of threads', threadFileScenarios)
