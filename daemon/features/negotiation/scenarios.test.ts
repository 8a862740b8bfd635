import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { threadFileScenarios } from './file-scenarios.testkit.ts'
import { negotiationScenarios } from './scenarios.testkit.ts'
import { threadScenarios } from './thread-scenarios.testkit.ts'

describeScenarios('Negotiation', negotiationScenarios)
describeScenarios('Threads', threadScenarios)
describeScenarios('Files of threads', threadFileScenarios)
