module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=8]> {stablehlo.mesh = {axes = [{name = "d", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x8x3xf32>) -> (tensor<8x8x3xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}, {}]>] out_shardings=[<@mesh, [{"d"}, {}, {}]>] manual_axes={"d"} (%arg1: tensor<1x8x3xf32>) {
      %1 = stablehlo.reshape %arg1 : (tensor<1x8x3xf32>) -> tensor<8x3xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<8> : tensor<ui32>
      %2 = stablehlo.partition_id : tensor<ui32>
      %3 = stablehlo.divide %2, %c : tensor<ui32>
      %4 = stablehlo.remainder %3, %c_0 : tensor<ui32>
      %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i32>
      %6 = stablehlo.iota dim = 0 : tensor<8xi32>
      %7 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<i32>) -> tensor<8xi32>
      %8 = stablehlo.compare EQ, %6, %7, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
      %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<8xi1>) -> tensor<8x1xi1>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
      %11 = func.call @_where(%9, %1, %10) : (tensor<8x1xi1>, tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
      %c_1 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.add %5, %c_1 : tensor<i32>
      %c_2 = stablehlo.constant dense<8> : tensor<i32>
      %13 = func.call @remainder(%12, %c_2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %14 = func.call @dynamic_index_in_dim(%1, %13) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %15 = "stablehlo.collective_permute"(%14) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %16 = stablehlo.subtract %5, %c_3 : tensor<i32>
      %c_4 = stablehlo.constant dense<8> : tensor<i32>
      %17 = func.call @remainder(%16, %c_4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_5 = stablehlo.constant dense<0> : tensor<i32>
      %18 = stablehlo.compare LT, %17, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_6 = stablehlo.constant dense<8> : tensor<i32>
      %19 = stablehlo.add %17, %c_6 : tensor<i32>
      %20 = stablehlo.select %18, %19, %17 : tensor<i1>, tensor<i32>
      %c_7 = stablehlo.constant dense<0> : tensor<i32>
      %21 = stablehlo.dynamic_update_slice %11, %15, %20, %c_7 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_8 = stablehlo.constant dense<2> : tensor<i32>
      %22 = stablehlo.add %5, %c_8 : tensor<i32>
      %c_9 = stablehlo.constant dense<8> : tensor<i32>
      %23 = func.call @remainder(%22, %c_9) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %24 = func.call @dynamic_index_in_dim(%1, %23) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %25 = "stablehlo.collective_permute"(%24) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [1, 3], [2, 4], [3, 5], [4, 6], [5, 7], [6, 0], [7, 1]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_10 = stablehlo.constant dense<2> : tensor<i32>
      %26 = stablehlo.subtract %5, %c_10 : tensor<i32>
      %c_11 = stablehlo.constant dense<8> : tensor<i32>
      %27 = func.call @remainder(%26, %c_11) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_12 = stablehlo.constant dense<0> : tensor<i32>
      %28 = stablehlo.compare LT, %27, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_13 = stablehlo.constant dense<8> : tensor<i32>
      %29 = stablehlo.add %27, %c_13 : tensor<i32>
      %30 = stablehlo.select %28, %29, %27 : tensor<i1>, tensor<i32>
      %c_14 = stablehlo.constant dense<0> : tensor<i32>
      %31 = stablehlo.dynamic_update_slice %21, %25, %30, %c_14 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_15 = stablehlo.constant dense<3> : tensor<i32>
      %32 = stablehlo.add %5, %c_15 : tensor<i32>
      %c_16 = stablehlo.constant dense<8> : tensor<i32>
      %33 = func.call @remainder(%32, %c_16) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %34 = func.call @dynamic_index_in_dim(%1, %33) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %35 = "stablehlo.collective_permute"(%34) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 3], [1, 4], [2, 5], [3, 6], [4, 7], [5, 0], [6, 1], [7, 2]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_17 = stablehlo.constant dense<3> : tensor<i32>
      %36 = stablehlo.subtract %5, %c_17 : tensor<i32>
      %c_18 = stablehlo.constant dense<8> : tensor<i32>
      %37 = func.call @remainder(%36, %c_18) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_19 = stablehlo.constant dense<0> : tensor<i32>
      %38 = stablehlo.compare LT, %37, %c_19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_20 = stablehlo.constant dense<8> : tensor<i32>
      %39 = stablehlo.add %37, %c_20 : tensor<i32>
      %40 = stablehlo.select %38, %39, %37 : tensor<i1>, tensor<i32>
      %c_21 = stablehlo.constant dense<0> : tensor<i32>
      %41 = stablehlo.dynamic_update_slice %31, %35, %40, %c_21 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_22 = stablehlo.constant dense<4> : tensor<i32>
      %42 = stablehlo.add %5, %c_22 : tensor<i32>
      %c_23 = stablehlo.constant dense<8> : tensor<i32>
      %43 = func.call @remainder(%42, %c_23) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %44 = func.call @dynamic_index_in_dim(%1, %43) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %45 = "stablehlo.collective_permute"(%44) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 4], [1, 5], [2, 6], [3, 7], [4, 0], [5, 1], [6, 2], [7, 3]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_24 = stablehlo.constant dense<4> : tensor<i32>
      %46 = stablehlo.subtract %5, %c_24 : tensor<i32>
      %c_25 = stablehlo.constant dense<8> : tensor<i32>
      %47 = func.call @remainder(%46, %c_25) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_26 = stablehlo.constant dense<0> : tensor<i32>
      %48 = stablehlo.compare LT, %47, %c_26, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_27 = stablehlo.constant dense<8> : tensor<i32>
      %49 = stablehlo.add %47, %c_27 : tensor<i32>
      %50 = stablehlo.select %48, %49, %47 : tensor<i1>, tensor<i32>
      %c_28 = stablehlo.constant dense<0> : tensor<i32>
      %51 = stablehlo.dynamic_update_slice %41, %45, %50, %c_28 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_29 = stablehlo.constant dense<5> : tensor<i32>
      %52 = stablehlo.add %5, %c_29 : tensor<i32>
      %c_30 = stablehlo.constant dense<8> : tensor<i32>
      %53 = func.call @remainder(%52, %c_30) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %54 = func.call @dynamic_index_in_dim(%1, %53) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %55 = "stablehlo.collective_permute"(%54) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 5], [1, 6], [2, 7], [3, 0], [4, 1], [5, 2], [6, 3], [7, 4]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_31 = stablehlo.constant dense<5> : tensor<i32>
      %56 = stablehlo.subtract %5, %c_31 : tensor<i32>
      %c_32 = stablehlo.constant dense<8> : tensor<i32>
      %57 = func.call @remainder(%56, %c_32) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_33 = stablehlo.constant dense<0> : tensor<i32>
      %58 = stablehlo.compare LT, %57, %c_33, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_34 = stablehlo.constant dense<8> : tensor<i32>
      %59 = stablehlo.add %57, %c_34 : tensor<i32>
      %60 = stablehlo.select %58, %59, %57 : tensor<i1>, tensor<i32>
      %c_35 = stablehlo.constant dense<0> : tensor<i32>
      %61 = stablehlo.dynamic_update_slice %51, %55, %60, %c_35 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_36 = stablehlo.constant dense<6> : tensor<i32>
      %62 = stablehlo.add %5, %c_36 : tensor<i32>
      %c_37 = stablehlo.constant dense<8> : tensor<i32>
      %63 = func.call @remainder(%62, %c_37) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %64 = func.call @dynamic_index_in_dim(%1, %63) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %65 = "stablehlo.collective_permute"(%64) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 6], [1, 7], [2, 0], [3, 1], [4, 2], [5, 3], [6, 4], [7, 5]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_38 = stablehlo.constant dense<6> : tensor<i32>
      %66 = stablehlo.subtract %5, %c_38 : tensor<i32>
      %c_39 = stablehlo.constant dense<8> : tensor<i32>
      %67 = func.call @remainder(%66, %c_39) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_40 = stablehlo.constant dense<0> : tensor<i32>
      %68 = stablehlo.compare LT, %67, %c_40, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_41 = stablehlo.constant dense<8> : tensor<i32>
      %69 = stablehlo.add %67, %c_41 : tensor<i32>
      %70 = stablehlo.select %68, %69, %67 : tensor<i1>, tensor<i32>
      %c_42 = stablehlo.constant dense<0> : tensor<i32>
      %71 = stablehlo.dynamic_update_slice %61, %65, %70, %c_42 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %c_43 = stablehlo.constant dense<7> : tensor<i32>
      %72 = stablehlo.add %5, %c_43 : tensor<i32>
      %c_44 = stablehlo.constant dense<8> : tensor<i32>
      %73 = func.call @remainder(%72, %c_44) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %74 = func.call @dynamic_index_in_dim(%1, %73) : (tensor<8x3xf32>, tensor<i32>) -> tensor<1x3xf32>
      %75 = "stablehlo.collective_permute"(%74) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 7], [1, 0], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6]]> : tensor<8x2xi64>}> : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %c_45 = stablehlo.constant dense<7> : tensor<i32>
      %76 = stablehlo.subtract %5, %c_45 : tensor<i32>
      %c_46 = stablehlo.constant dense<8> : tensor<i32>
      %77 = func.call @remainder(%76, %c_46) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %c_47 = stablehlo.constant dense<0> : tensor<i32>
      %78 = stablehlo.compare LT, %77, %c_47, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_48 = stablehlo.constant dense<8> : tensor<i32>
      %79 = stablehlo.add %77, %c_48 : tensor<i32>
      %80 = stablehlo.select %78, %79, %77 : tensor<i1>, tensor<i32>
      %c_49 = stablehlo.constant dense<0> : tensor<i32>
      %81 = stablehlo.dynamic_update_slice %71, %75, %80, %c_49 : (tensor<8x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<8x3xf32>
      %82 = stablehlo.broadcast_in_dim %81, dims = [1, 2] : (tensor<8x3xf32>) -> tensor<1x8x3xf32>
      sdy.return %82 : tensor<1x8x3xf32>
    } : (tensor<8x8x3xf32>) -> tensor<8x8x3xf32>
    return %0 : tensor<8x8x3xf32>
  }
  func.func private @_where(%arg0: tensor<8x1xi1>, %arg1: tensor<8x3xf32>, %arg2: tensor<8x3xf32>) -> tensor<8x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x3xi1>
    %1 = stablehlo.select %0, %arg1, %arg2 : tensor<8x3xi1>, tensor<8x3xf32>
    return %1 : tensor<8x3xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where_0(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<8x3xf32>, %arg1: tensor<i32>) -> tensor<1x3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.dynamic_slice %arg0, %2, %c_1, sizes = [1, 3] : (tensor<8x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    return %3 : tensor<1x3xf32>
  }
}

