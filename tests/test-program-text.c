#include "config.h"
#include "support.h"
int main(void){return support_main(suite_create("x"));}
