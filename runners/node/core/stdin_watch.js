// A thread that sleeps until the controller's end of stdin is closed, then ends the process: a synchronous driver keeps
// the event loop from seeing that.

import { exitAtOnce, nameThread, waitForHangUp } from "./native.js";

nameThread("rowpath-stdin");
waitForHangUp(0);
exitAtOnce(0);
