import { testTables } from '../run.js';

testTables(0, 2);
