import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { rulingScenarios } from './ruling-scenarios.testkit.ts'
import { operatorScenarios } from './scenarios.testkit.ts'
import { operatorThreadScenarios } from './thread-scenarios.testkit.ts'

describeScenarios('What the operator sees and switches', operatorScenarios)
describeScenarios('What the operator reads and says in conversations', operatorThreadScenarios)
describeScenarios('What the operator decides', rulingScenarios)
