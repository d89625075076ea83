#include "network/count.h"

Count
count_speed(double rate_Bps)
{
    return (Count)(rate_Bps * 0x1p32);
}

gboolean
count_time(Count left, double rate_Bps, SimTime *time)
{
    Count rate = count_speed(rate_Bps);
    if (rate == 0)
        return FALSE;
    Count exact = left <= 0 ? 0 : (left + rate - 1) / rate;
    *time = (SimTime)exact;
    return exact <= SIM_TIME_MAX;
}
